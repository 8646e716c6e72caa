import { ConsoleLogger, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createLogger, nestLogger } from './logger.js';

const SECRET = 'nobody may read this';

@Module({})
class TestModule {}

describe('createLogger', () => {
  let line = '';
  const destination = { write: (text: string) => (line = text) };

  it('a logger writes an error once, with its cause, but without the data of the failed operation', async () => {
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
    { request: { headers: { Authorization: SECRET, 'x-api-key': SECRET, 'Set-Cookie': [SECRET] } } },
    { env: { ADMIN_TOKEN: SECRET, AUTH_JWT_SECRET: SECRET } },
    { a: [{ b: { c: { accessToken: SECRET } } }] },
  ])('a logger redacts credentials: %j', async (fields) => {
    const logger = await createLogger('test', 'info', destination);
    logger.info(fields, 'request');
    expect(line).not.toContain(SECRET);
    expect(line).toContain('[redacted]');
  });
});

describe('createLogger, with an error', () => {
  let line = '';
  const destination = { write: (text: string) => (line = text) };
  const log = async (fields: object): Promise<unknown> => {
    (await createLogger('test', 'info', destination)).error(fields, 'failed');
    return JSON.parse(line);
  };

  it('an error is logged without its data under any name, and with all errors that it holds', async () => {
    const data = { op: { description: SECRET } };
    const errors = [Object.assign(new Error('first'), data), Object.assign(new Error('second'), data)];
    expect(await log({ error: new AggregateError(errors, 'all failed') })).toMatchObject({
      error: { message: 'all failed', errors: [{ message: 'first' }, { message: 'second' }] },
    });
    expect(line).not.toContain(SECRET);
  });

  it('the log says which index rejected a document, but not its values', async () => {
    const message = `E11000 duplicate key error collection: shop.items index: name_1 dup key: { name: "${SECRET}" }`;
    expect(await log({ err: new Error(message) })).toMatchObject({
      err: {
        message: 'E11000 duplicate key error collection: shop.items index: name_1',
        stack: expect.stringContaining('logger.spec') as string,
      },
    });
    expect(line).not.toContain(SECRET);
  });

  it('the log says that a command is not authorized, but not its values', async () => {
    const message = `not authorized on shop to execute command { find: "items", filter: { name: "${SECRET}" } }`;
    expect(await log({ err: new Error(message) })).toMatchObject({ err: { message: 'not authorized on shop' } });
    expect(line).not.toContain(SECRET);
  });

  it('an error that is its own cause is logged', async () => {
    const error = new Error('failed');
    error.cause = error;
    expect(await log({ err: error })).toMatchObject({ err: { message: 'failed', cause: { message: 'failed' } } });
  });
});

describe('nestLogger', () => {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
  let logger: Logger;
  beforeEach(async () => {
    lines.splice(0);
    Logger.overrideLogger(nestLogger(await createLogger('test', 'info', destination)));
    logger = new Logger('Context');
  });
  afterAll(() => {
    Logger.overrideLogger(new ConsoleLogger());
  });

  it("the logger of Nest logs a line of an application's own logger at info", () => {
    logger.log('POST');
    expect(lines).toMatchObject([{ level: 30, context: 'Context', msg: 'POST' }]);
  });

  it('the logger of Nest omits the lines in which Nest lists modules and routes, but not its errors', () => {
    Logger.log('Mapped {/health/live, GET} route', 'RouterExplorer');
    Logger.error('no such provider', undefined, 'InstanceLoader');
    expect(lines).toMatchObject([{ level: 50, context: 'InstanceLoader', msg: 'no such provider' }]);
  });

  it('the logger of Nest omits an error that Nest throws as well', async () => {
    const error = new Error('no such provider');
    const failing = {
      module: TestModule,
      providers: [{ provide: 'failing', useFactory: () => Promise.reject(error) }],
    };
    const options = { logger: nestLogger(await createLogger('test', 'info', destination)), abortOnError: false };
    await expect(NestFactory.createApplicationContext(failing, options)).rejects.toBe(error);
    expect(lines).toEqual([]);
  });

  it('the logger of Nest logs the stack and the cause of an error, but not its data', () => {
    const cause = Object.assign(new Error('validation failed'), { op: { description: SECRET } });
    const error = new TypeError('not stored', { cause });
    logger.error(error);
    logger.warn('retrying', error);
    Logger.fatal('giving up', error);
    const err = {
      type: 'TypeError',
      message: 'not stored',
      stack: error.stack,
      cause: { message: 'validation failed' },
    };
    expect(lines).toMatchObject([
      { level: 50, context: 'Context', msg: 'TypeError: not stored', err },
      { level: 40, context: 'Context', msg: 'retrying', err },
      { level: 60, msg: 'giving up', err },
    ]);
    expect(lines[2]).not.toHaveProperty('context');
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it('the logger of Nest logs a stack that is passed after the message', () => {
    const { stack } = new Error('not stored');
    logger.error('failed', stack);
    Logger.error('failed', stack);
    expect(lines).toMatchObject([
      { context: 'Context', msg: 'failed', stack },
      { msg: 'failed', stack },
    ]);
    expect(lines[1]).not.toHaveProperty('context');
  });

  it('the logger of Nest does not log the values that MongoDB quotes, neither in a message nor in a stack', () => {
    const error = new Error(`E11000 duplicate key error collection: shop.items dup key: { name: "${SECRET}\n}" }`);
    logger.error(error);
    logger.error(error.message, error.stack);
    const message = 'E11000 duplicate key error collection: shop.items';
    const stack = expect.stringMatching(
      /^Error: E11000 duplicate key error collection: shop.items\n +at .*logger.spec/,
    ) as string;
    expect(lines).toMatchObject([
      { msg: `Error: ${message}`, err: { message, stack } },
      { msg: message, stack },
    ]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});
