import { Writable } from 'node:stream';
import { pino } from 'pino';
import { createLogger, nestLogger } from './logger.js';

const SECRET = 'nobody may read this';

describe('createLogger', () => {
  let line = '';
  const destination = { write: (text: string) => (line = text) };

  it('returns a logger that writes an error once, with its cause, but without the data of the failed operation', async () => {
    const logger = await createLogger('test', 'info', destination);
    const cause = Object.assign(new Error('validation failed'), { code: 121, op: { description: SECRET } });
    logger.error({ err: new TypeError('not stored', { cause }) }, 'unexpected error');
    expect(line).not.toContain(SECRET);
    expect(JSON.parse(line)).toMatchObject({
      msg: 'unexpected error',
      err: {
        type: 'TypeError',
        message: 'not stored',
        stack: expect.stringContaining('logger.spec') as string,
        cause: { type: 'Error', message: 'validation failed', code: 121 },
      },
    });
  });

  it.each([
    { authorization: SECRET },
    { headers: { authorization: SECRET, cookie: SECRET } },
    { req: { headers: { authorization: SECRET } } },
    { config: { password: SECRET, token: SECRET } },
  ])('returns a logger that redacts credentials: %j', async (fields) => {
    const logger = await createLogger('test', 'info', destination);
    logger.info(fields, 'request');
    expect(line).not.toContain(SECRET);
    expect(line).toContain('[redacted]');
  });
});

describe('nestLogger', () => {
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write: (line: Buffer, _encoding, done) => {
      lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
      done();
    },
  });
  const logger = nestLogger(pino({ level: 'info' }, stream));
  beforeEach(() => lines.splice(0));

  it("logs a line of an application's own logger at info", () => {
    logger.log('POST', 'RequestLogger');
    expect(lines).toMatchObject([{ level: 30, context: 'RequestLogger', msg: 'POST' }]);
  });

  it('omits the lines in which Nest lists modules and routes, but not its errors', () => {
    logger.log('Mapped {/health/live, GET} route', 'RouterExplorer');
    logger.error('no such provider', 'stack', 'InstanceLoader');
    expect(lines).toMatchObject([{ level: 50, context: 'InstanceLoader', msg: 'no such provider' }]);
  });
});
