import { execa } from 'execa';
import { signal } from './stop-in-order.mjs';

const LAST_LINES = 20;
/** Options of a child that uses the terminal. */
export const TERMINAL = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' };

/** A process in its own group: Ctrl-C in the terminal must reach only the launcher, which stops children in order. */
export class Child {
  /** The lines of its output to report if it fails. */
  lines = [];

  /**
   * @param {string} name for messages
   * @param {string} command
   * @param {string[]} args
   * @param {import('execa').Options & {onLine?: (line: string) => void, collect?: boolean, keepFirst?: number}} options
   * output that is not redirected is read line by line; the last lines are kept, and the first `keepFirst`; `collect`
   * also keeps all of stdout; `env` is the whole environment
   */
  constructor(name, command, args, { onLine, collect = false, keepFirst = 0, env = process.env, ...options }) {
    const { lines } = this;
    function* read(line) {
      lines.push(line);
      if (lines.length > keepFirst + LAST_LINES) lines.splice(keepFirst, 2, '…');
      onLine?.(line);
      if (collect) yield line;
    }
    const ours = { stdin: 'ignore', stdout: read, stderr: read, detached: true, reject: false, extendEnv: false };
    const child = execa(command, args, { ...ours, env, ...options });
    this.name = name;
    this.pid = child.pid;
    // Processes that it leaves in its group must not outlive it.
    child.once('exit', () => signal(-this.pid, 'SIGKILL'));
    /** Resolves when it has exited and its output is read. */
    this.exited = child.then(({ exitCode, signal, code, stdout }) => ({ code: exitCode, signal, error: code, stdout }));
  }

  /** Returns the lines for the report. Replaced for a child that writes a log file. */
  reportLines() {
    return this.lines;
  }
}

/** Describes how a process exited. */
export function describeExit({ code, signal, error }) {
  if (code !== undefined) return `exited with code ${code}`;
  if (signal !== undefined) return `was terminated by ${signal}`;
  return error === 'ENOENT' ? 'is not on PATH' : `could not be started (${error})`;
}
