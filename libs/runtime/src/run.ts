import { setFlagsFromString } from 'node:v8';
import { ConfigError } from './config.js';
import type { Logger } from './logger.js';

/** What a started process can do: stop, in order. */
export interface Stoppable {
  logger: Logger;
  stop: () => Promise<void>;
}

/**
 * How far garbage may outgrow what is alive before V8 collects it. On a machine with much memory V8 lets it grow
 * fourfold: 290 MB for an API that works with 60.
 */
const HEAP_GROWING_PERCENT = 120;

/** For what runs for long: takes effect for the whole process. */
export function collectGarbageEarly(): void {
  setFlagsFromString(`--heap-growing-percent=${String(HEAP_GROWING_PERCENT)}`);
}

/** Orchestrators grant 10 s by default between SIGTERM and SIGKILL. */
const EXIT_AFTER_MS = 8_800;

/**
 * Runs a process from start to exit: bad configuration is one line and exit code 1; SIGTERM and
 * SIGINT stop it in order and exit 0, after {@link EXIT_AFTER_MS} at the latest.
 */
export function runProcess(start: () => Promise<Stoppable>): void {
  collectGarbageEarly();
  const started = Promise.resolve().then(start);
  // From here on: a signal during the start would end the process at once, or, for the first process of a
  // container, be lost.
  stopOnSignal(started);
  started.catch((error: unknown) => {
    console.error(reasonOf(error));
    process.exit(1);
  });
}

/** One line where the operator can mend it. */
function reasonOf(error: unknown): unknown {
  if (error instanceof ConfigError) return error.message;
  // Listening is the only system call that a start depends on: the stores are waited for.
  if (error instanceof Error && 'syscall' in error) return `HOST or port is not valid: cannot listen, ${error.message}`;
  return error;
}

function stopOnSignal(started: Promise<Stoppable>): void {
  let stopping = false;
  const onSignal = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), EXIT_AFTER_MS).unref();
    // What does not start ends by itself.
    started.then((running) => stopNow(running, signal)).catch(() => undefined);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

async function stopNow({ logger, stop }: Stoppable, signal: string): Promise<void> {
  logger.info({ signal }, 'stopping');
  process.once('exit', (code) => {
    logger.info({ code }, 'stopped');
  });
  try {
    await stop();
    process.exit(0);
  } catch (error) {
    logger.error({ err: error }, 'stopping failed');
    process.exit(1);
  }
}
