import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';

export type { Logger } from 'pino';

/** Creates the logger of a process. It writes JSON lines, or readable lines on a terminal. */
export function createLogger(name: string, level: string): Logger {
  const options = { name, level, base: { name, pid: process.pid } };
  return process.stdout.isTTY ? pino(options, PinoPretty({ colorize: true, ignore: 'pid' })) : pino(options);
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
 * Sends the lines of Nest's `Logger` to the logger of the process. `log` becomes `info`, and Nest's own startup lines
 * become `debug`.
 */
export function nestLogger(logger: Logger): LoggerService {
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      const context = rest.at(-1);
      const isStartup = level === 'info' && NEST_CONTEXTS.has(context);
      logger[isStartup ? 'debug' : level]({ context }, String(message));
    };
  return { log: line('info'), debug: line('debug'), verbose: line('debug'), warn: line('warn'), error: line('error') };
}
