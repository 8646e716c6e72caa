import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, throttle } from '@app/runtime';
import { printable } from './printable.js';

/** Thrown if a command cannot run for a reason that its user can fix. Only the message is printed. */
export class CommandError extends Error {}

type Print = (line: string) => void;

/** What a command has found or done: lines to read, and the same for programs. */
export interface Result {
  lines: string[];
  json: unknown;
  exitCode?: number;
}

const RETRY_MS = 500;
const COULD_NOT_RUN = 2;

/**
 * Runs a command. The exit code is 2 if `run` throws or standard output cannot be written; otherwise 0, or what `run`
 * has set.
 */
export function runCommand(usage: string, run: (print: Print) => Promise<void> | void): void {
  handleOutputErrors();
  const print = (line: string): void => {
    console.log(line);
  };
  const start = async (): Promise<void> => run(print);
  start().catch((error: unknown) => {
    const isExpected = error instanceof ConfigError || error instanceof CommandError;
    const isUsage = error instanceof TypeError && 'code' in error;
    console.error(isExpected ? error.message : isUsage ? `${error.message}\n${usage}` : withoutData(error));
    process.exitCode = COULD_NOT_RUN;
  });
}

/** Ends the command once standard output cannot be written, for a command that only prints. */
export function endWithOutput(): void {
  process.stdout.on('error', () => process.exit(0));
}

/** Does not interrupt the command, which may have more to do than to print. */
function handleOutputErrors(): void {
  let isLost = false;
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    // A reader such as `head` closes the pipe early.
    if (isLost || code === 'EPIPE') return;
    isLost = true;
    console.error(`Cannot write to standard output: ${message}`);
    process.once('exit', () => (process.exitCode = COULD_NOT_RUN));
  });
  process.stderr.on('error', () => undefined);
}

/** Leaves out the fields of an error, which may be a password or the texts of items: those of Redis have its command. */
function withoutData(error: unknown): unknown {
  return error instanceof Error ? error.stack : error;
}

/**
 * Prints a result to standard output, and sets the exit code. Escapes control characters, because others have written
 * some of the texts.
 */
export function printResult(print: Print, { lines, json, exitCode = 0 }: Result, isJson: boolean): void {
  print(printable(isJson ? JSON.stringify(json) : lines.join('\n'), '\n\t'));
  process.exitCode = exitCode;
}

/** Prints a line to standard error: standard output is for the result alone. */
export function report(line: string): void {
  console.error(line);
}

/**
 * Repeats an attempt until it succeeds. Calls `print` every few seconds, with a line and the error of the last attempt.
 *
 * @throws CommandError if it has not succeeded after `ms`; a ConfigError of the attempt at once
 */
export async function retryFor(
  ms: number,
  what: string,
  print: (line: string, error: unknown) => void,
  attempt: () => Promise<void>,
): Promise<void> {
  const end = performance.now() + ms;
  const report = throttle(print);
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (performance.now() > end) throw new CommandError(`${what} did not respond within ${String(ms / 1000)} s`);
      report(`${what} is unavailable, trying again`, error);
      await delay(RETRY_MS);
    }
  }
}
