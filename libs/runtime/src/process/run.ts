import { format } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { isSpanContextValid, trace } from '@opentelemetry/api';
import { ConfigError, type ApiConfig, type WorkerConfig } from '../config/config.js';
import { createLogger, type Logger } from './logger.js';

/** A process that has started and can be stopped gracefully. */
export interface Stoppable {
  stop: () => Promise<void>;
}

interface Running extends Stoppable {
  logger: Logger;
}

/**
 * How much the heap may grow, relative to the live objects, before V8 collects garbage. On a machine with much memory,
 * V8 by default lets the heap grow to about four times their size.
 */
const HEAP_GROWING_PERCENT = 70;

/** Makes V8 collect garbage earlier in the whole process. Intended for long-running processes. */
export function collectGarbageEarly(): void {
  setFlagsFromString(`--heap-growing-percent=${String(HEAP_GROWING_PERCENT)}`);
}

/** The settings of the ports on which the processes listen. */
const PORT_SETTINGS = { api: 'PORT', worker: 'WORKER_PORT' };

/** The system calls of listening: that of the port, and that of a host that is a name. */
const LISTENING = new Set<unknown>(['listen', 'getaddrinfo']);

/** Docker allows 10 s between SIGTERM and SIGKILL by default. */
const EXIT_AFTER_MS = 8_800;
/** How long lines of the log that are not written yet delay the exit. */
const FLUSH_WITHIN_MS = 200;

/** What makes up a process. */
export interface ProcessOptions<Config> {
  name: 'api' | 'worker';
  loadConfig: () => Config;
  /** Imports the application, after tracing has started, which instruments modules as they are loaded. */
  loadApp: () => Promise<{ createApp: (config: Config, logger: Logger) => Promise<Stoppable> }>;
}

/**
 * Runs a process from start to exit. If the configuration is not valid, prints one line and exits with code 1. Logs any
 * other error of the start, and exits with code 1. On SIGTERM or SIGINT, stops and exits with code 0, or 1 if that fails,
 * after {@link EXIT_AFTER_MS} and {@link FLUSH_WITHIN_MS} at the latest.
 */
export function runProcess<Config extends ApiConfig | WorkerConfig>(options: ProcessOptions<Config>): void {
  collectGarbageEarly();
  const started = Promise.resolve().then(() => start(options));
  // Listens before the start is complete. Otherwise a signal would end the process immediately or, if it is the first
  // process of a container, be lost.
  stopOnSignal(started);
  started.catch((error: unknown) => {
    const reason = operatorErrorOf(error, PORT_SETTINGS[options.name]);
    // Logged as an uncaught exception.
    if (reason === undefined) throw error;
    console.error(reason);
    process.exit(1);
  });
}

async function start<Config extends ApiConfig | WorkerConfig>(options: ProcessOptions<Config>): Promise<Running> {
  const { name, loadConfig, loadApp } = options;
  const config = loadConfig();
  const logger = await createLogger(name, config.logLevel);
  exitOnUncaughtException(logger);
  logProcessWarnings(logger);
  logWarningsOfLibraries(logger);
  // A module that was loaded with `node --require` may have started OpenTelemetry, and then records its own spans.
  const isPreloaded = isTracingStarted();
  const tracing = config.tracing && !isPreloaded;
  const stopTracing = tracing ? await startTracing(name) : undefined;
  const { createApp } = await loadApp();
  // The usual instrumentations of Express and Nest record only what these two handle.
  const app = await createApp({ ...config, tracing, ...(isPreloaded && { fastLane: false }) }, logger);
  return {
    logger,
    stop: async () => {
      await app.stop();
      await stopTracing?.();
    },
  };
}

/**
 * Whether an SDK of OpenTelemetry has been started. Without one, a span has no valid context
 * (https://opentelemetry.io/docs/specs/otel/trace/api/#behavior-of-the-api-in-the-absence-of-an-installed-sdk).
 */
function isTracingStarted(): boolean {
  // Only spans that end are exported.
  const span = trace.getTracer('item-listing').startSpan('start', { root: true });
  return isSpanContextValid(span.spanContext());
}

/** Loads OpenTelemetry's SDK only now, because a process without tracing does not need it. */
async function startTracing(name: string): Promise<() => Promise<void>> {
  const tracing = await import('./tracing.js');
  return tracing.startTracing(`item-listing-${name}`);
}

/** Returns a single line if the operator can fix the problem by a setting, otherwise undefined. */
function operatorErrorOf(error: unknown, portSetting: string): string | undefined {
  if (error instanceof ConfigError) return error.message;
  return cannotListen(error) ? `HOST or ${portSetting} is not valid: cannot listen, ${error.message}` : undefined;
}

/** Returns whether a server cannot listen on its host and port. */
export function cannotListen(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && LISTENING.has(error.syscall);
}

/** Logs what would crash the process, including rejections that nothing handles, in the same format as all errors. */
function exitOnUncaughtException(logger: Logger): void {
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'uncaught exception');
    exitWhenFlushed(logger, 1);
  });
}

/** Exits once the log is written. Waits for a slow reader of it, but not for one that no longer reads. */
export function exitWhenFlushed(logger: Logger, code: number): void {
  const exit = (): never => process.exit(code);
  setTimeout(exit, FLUSH_WITHIN_MS);
  logger.flush(exit);
}

/** Logs the warnings of Node.js. Unless it is started with `--no-warnings`, it prints them as well. */
function logProcessWarnings(logger: Logger): void {
  process.on('warning', (err) => {
    logger.warn({ err }, 'process warning');
  });
}

/** Logs what libraries write to the console, such as BullMQ about a `maxmemory-policy` of Redis that loses jobs. */
function logWarningsOfLibraries(logger: Logger): void {
  console.warn = (...parts: unknown[]): void => {
    logger.warn(format(...parts));
  };
}

function stopOnSignal(started: Promise<Running>): void {
  let stopping = false;
  const onSignal = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    let logger: Logger | undefined;
    let isExiting = false;
    const exit = (code: number): void => {
      if (isExiting) return;
      isExiting = true;
      if (logger === undefined) process.exit(code);
      logger.info({ code }, 'stopped');
      exitWhenFlushed(logger, code);
    };
    setTimeout(exit, EXIT_AFTER_MS, 0).unref();
    const stop = async (running: Running): Promise<void> => {
      logger = running.logger;
      exit(await stopNow(running, signal));
    };
    // A failed start exits on its own.
    started.then(stop).catch(() => undefined);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** Returns the exit code. */
async function stopNow({ logger, stop }: Running, signal: string): Promise<number> {
  logger.info({ signal }, 'stopping');
  try {
    await stop();
    return 0;
  } catch (error) {
    logger.error({ err: error }, 'stopping failed');
    return 1;
  }
}
