import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import { PinoPretty } from 'pino-pretty';

export type { Logger } from 'pino';

/** Logger of one process: JSON lines, one a fault or event; readable lines on a terminal. */
export function createLogger(name: string, level: string): Logger {
  const options = { name, level, base: { name, pid: process.pid } };
  return process.stdout.isTTY ? pino(options, PinoPretty({ colorize: true, ignore: 'pid' })) : pino(options);
}

/** Lets Nest's own lines, such as a missing provider at boot, go to the process's log. */
export function nestLogger(logger: Logger): LoggerService {
  const line =
    (level: 'debug' | 'warn' | 'error') =>
    (message: unknown, ...rest: unknown[]): void => {
      logger[level]({ context: rest.at(-1) }, String(message));
    };
  return { log: line('debug'), debug: line('debug'), verbose: line('debug'), warn: line('warn'), error: line('error') };
}
