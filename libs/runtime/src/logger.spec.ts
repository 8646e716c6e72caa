import { Writable } from 'node:stream';
import { pino } from 'pino';
import { nestLogger } from './logger.js';

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
