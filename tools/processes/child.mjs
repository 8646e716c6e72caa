import { execa } from 'execa';
import { StepError } from '../steps.mjs';
import { waitUntil } from '../wait-until.mjs';
import { signal } from './stop-in-order.mjs';

const LAST_LINES = 20;
const READY_WITHIN_MS = 60_000;
/** Options of a child that uses the terminal. */
export const TERMINAL = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' };

/**
 * Starts a process in its own group: Ctrl-C in the terminal must reach only the launcher, which stops children in order.
 * Output that is not redirected is read line by line. The last lines are kept for the report of a failure.
 * @param {import('execa').Options & {onLine?: (line: string) => void, collect?: boolean}} options `collect` keeps all of
 * the output; `env` is the whole environment
 */
export function startChild(name, command, args, { onLine, collect = false, env = process.env, ...options }) {
  const lines = [];
  function* read(line) {
    lines.push(line);
    if (lines.length > LAST_LINES && !collect) lines.shift();
    onLine?.(line);
    if (collect) yield line;
  }
  const ours = { stdin: 'ignore', stdout: read, stderr: read, detached: true, reject: false, extendEnv: false };
  const child = execa(command, args, { ...ours, env, ...options });
  const { pid } = child;
  // Processes that it leaves in its group must not outlive it.
  child.once('exit', () => signal(-pid, 'SIGKILL'));
  /** Resolves once all output is read. Its `stdout` is empty unless it is collected. */
  const exited = child.then((exit) => ({ ...exit, error: exit.code, code: exit.exitCode }));
  return { name, pid, exited, lines, reportLines: () => lines };
}

/** Waits until a child is ready. Throws if it exits first or takes too long. `isReady` may reject until then. */
export async function waitUntilReady(child, isReady) {
  let exit;
  let reason;
  child.exited.then((value) => (exit = value));
  const isDecided = async () => exit || (await isReady().catch((error) => void (reason = error.message)));
  const isInTime = await waitUntil(isDecided, { everyMs: 50, withinMs: READY_WITHIN_MS });
  if (isInTime && !exit) return;
  const outcome = exit
    ? `${describeExit(exit)} before it was ready`
    : `is not ready after ${READY_WITHIN_MS / 1000} s: ${reason}`;
  throw new StepError(`${child.name} ${outcome}`, { details: child.reportLines() });
}

export function describeExit({ code, signal, error }) {
  if (code !== undefined) return `exited with code ${code}`;
  if (signal !== undefined) return `was terminated by ${signal}`;
  return error === 'ENOENT' ? 'is not on PATH' : `could not be started (${error})`;
}
