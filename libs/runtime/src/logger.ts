import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';

export type { Logger } from 'pino';

/**
 * Creates the logger of a process. It writes JSON lines to `destination` (by default standard output), or readable lines
 * on a terminal if pino-pretty is installed, which is a development dependency.
 */
export async function createLogger(name: string, level: string, destination?: DestinationStream): Promise<Logger> {
  const options: LoggerOptions = {
    name,
    level,
    base: { name, pid: process.pid },
    serializers: { err: withoutData },
    redact: { paths: CREDENTIALS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: '[redacted]' },
  };
  if (destination !== undefined) return pino(options, destination);
  return process.stdout.isTTY ? pino(options, await prettyPrinter()) : pino(options);
}

/** Fields that contain credentials when a request or its headers are logged. */
const CREDENTIALS = ['authorization', 'cookie', 'token', 'password'];

/**
 * Returns the parts of an error that describe it. Others, such as `op` of MongoDB's write errors, may contain the texts
 * of items.
 */
function withoutData(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name: type, message, stack, cause } = error;
  const { code } = error as NodeJS.ErrnoException;
  return { type, message, stack, code, ...(cause === undefined ? {} : { cause: withoutData(cause) }) };
}

async function prettyPrinter(): Promise<DestinationStream | undefined> {
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.default({ colorize: true, ignore: 'pid' });
}

/** The contexts of Nest's own startup lines. */
const NEST_CONTEXTS = new Set<unknown>([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'NestApplicationContext',
]);

/**
 * Sends the lines of Nest's `Logger` to the logger of the process, with the stacks and causes of errors. `log` becomes
 * `info`, and Nest's own startup lines become `debug`.
 */
export function nestLogger(logger: Logger): LoggerService {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error' | 'fatal') =>
    (message: unknown, ...rest: unknown[]): void => {
      const stack = rest.find(isStack);
      const err = [message, ...rest].find((each) => each instanceof Error);
      const last = rest.at(-1);
      // The context is optional, and the last argument if there is one.
      const context = last === stack || last === err ? undefined : last;
      const isStartup = level === 'info' && NEST_CONTEXTS.has(context);
      logger[isStartup ? 'debug' : level]({ context, stack, err }, String(message));
    };
  return {
    log: line('info'),
    debug: line('debug'),
    verbose: line('debug'),
    warn: line('warn'),
    error: line('error'),
    fatal: line('fatal'),
  };
}

function isStack(value: unknown): value is string {
  return typeof value === 'string' && /\n\s+at /.test(value);
}
