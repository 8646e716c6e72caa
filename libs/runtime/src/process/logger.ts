import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { LogDestination, standardOutput } from './log-destination.js';

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
    formatters: { log: (fields) => withoutSecrets(fields) as Record<string, unknown> },
    // Errors are converted already.
    serializers: { err: (error: unknown) => error },
  };
  return pino(options, destination ?? (await standardDestination()));
}

async function standardDestination(): Promise<LogDestination> {
  const format = process.stdout.isTTY ? await prettyFormat() : undefined;
  const destination = new LogDestination(standardOutput(), format);
  // Whatever ends the process, such as a worker that no longer takes jobs.
  process.once('exit', () => {
    destination.end();
  });
  return destination;
}

/** The names of fields that contain credentials when a request, its headers or settings are logged. */
const CREDENTIAL = /authorization|cookie|token|password|secret|api-?key|rawheaders/i;
/** How deep the fields of a line are searched for credentials and errors. Deeper ones are omitted. */
const MAX_DEPTH = 6;
/** The values or the command that MongoDB quotes, which may contain texts of items. In a stack, its lines follow. */
const QUOTED_VALUES = / (?:dup key:|to execute command) (?:.*\}|.*)/s;

/** Returns a value as it is logged: without credentials, and with only those parts of errors that describe them. */
function withoutSecrets(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '[omitted]';
  if (Array.isArray(value)) return value.map((element) => withoutSecrets(element, depth + 1));
  const fields = value instanceof Error ? describe(value) : value;
  // A date, for example.
  if ('toJSON' in fields) return fields;
  const entries = Object.entries(fields).map(([name, field]: [string, unknown]) => [
    name,
    CREDENTIAL.test(name) ? '[redacted]' : withoutSecrets(field, depth + 1),
  ]);
  return Object.fromEntries(entries) as unknown;
}

/** Other parts of an error, such as `op` of MongoDB's write errors, may contain the texts of items. */
function describe(error: Error): Record<string, unknown> {
  const { name: type, message, stack, cause } = error;
  const { code, errors } = error as NodeJS.ErrnoException & { errors?: unknown };
  const described = withoutQuotedValues(message);
  return { type, message: described, stack: stack?.replace(message, () => described), code, cause, errors };
}

function withoutQuotedValues(text: string): string {
  return text.replace(QUOTED_VALUES, '');
}

async function prettyFormat(): Promise<((line: string) => string) | undefined> {
  const pretty = await import('pino-pretty').catch(() => undefined);
  return pretty?.prettyFactory({ colorize: true, ignore: 'pid' });
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

/** The context in which Nest logs an error of the start before it throws it (`abortOnError: false`). */
const THROWN_AS_WELL = 'ExceptionHandler';

/**
 * Sends the lines of Nest's `Logger` to the logger of the process, with the stacks and causes of errors. `log` becomes
 * `info`, and Nest's own startup lines become `debug`. Omits the errors that Nest throws as well: whoever catches them
 * logs them.
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
      if (context === THROWN_AS_WELL) return;
      const isStartup = level === 'info' && NEST_CONTEXTS.has(context);
      const fields = { context, stack: stack && withoutQuotedValues(stack), err };
      logger[isStartup ? 'debug' : level](fields, withoutQuotedValues(String(message)));
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
