import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';

export type { Logger } from 'pino';

/** Creates the logger of a process. It writes JSON lines, or readable lines on a terminal. */
export function createLogger(name: string, level: string): Logger {
  const options = { name, level, base: { name, pid: process.pid } };
  return process.stdout.isTTY ? pino(options, PinoPretty({ colorize: true, ignore: 'pid' })) : pino(options);
}

/** Sends Nest's own log lines, such as a missing provider at startup, to the logger of the process. */
export function nestLogger(logger: Logger): LoggerService {
  const line =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      logger[level]({ context: rest.at(-1) }, String(message));
    };
  return { log: line('debug'), debug: line('debug'), verbose: line('debug'), warn: line('warn'), error: line('error') };
}
