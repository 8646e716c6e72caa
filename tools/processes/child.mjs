import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { identify } from './identity.mjs';

const LAST_LINES = 20;
const LAST_LINES_MS = 300;

/** A process in its own group: Ctrl-C in the terminal must reach only the launcher, which stops children in order. */
export class Child {
  /** The lines of its output to report if it fails. */
  kept = [];
  /** All of stdout, if `collect` is set. */
  stdout = '';

  /**
   * @param {string} name for messages
   * @param {string} command
   * @param {string[]} args
   * @param {{env?: NodeJS.ProcessEnv, cwd?: string, stdin?: 'inherit' | 'ignore', stdout?: number | 'inherit',
   *   stderr?: number | 'inherit', onLine?: (line: string) => void, collect?: boolean, keepFirst?: number}} [options]
   * output that is not redirected is read line by line; the last lines are kept, and the first `keepFirst`
   */
  constructor(name, command, args, options = {}) {
    const { env, cwd, stdin = 'ignore', stdout = 'pipe', stderr = 'pipe' } = options;
    this.name = name;
    this.process = spawn(command, args, { env, cwd, stdio: [stdin, stdout, stderr], detached: true });
    /** @type {Promise<{code: number | null, signal: string | null, error?: Error}>} resolves once, never rejects */
    this.exited = new Promise((resolve) => {
      this.process.once('error', (error) => resolve({ code: null, signal: null, error }));
      this.process.once('exit', (code, signal) => {
        // Waits for the last lines, which say why it exited, but not for long: a grandchild may keep the stream open.
        this.process.once('close', () => resolve({ code, signal }));
        setTimeout(() => resolve({ code, signal }), LAST_LINES_MS);
      });
    });
    if (this.process.pid !== undefined) this.identity = identify(this.process.pid);
    if (options.collect) this.process.stdout.setEncoding('utf8').on('data', (chunk) => (this.stdout += chunk));
    for (const stream of [this.process.stdout, this.process.stderr]) this.#read(stream, options);
  }

  /** Returns the lines for the report. Replaced for a child that writes a log file. */
  reportLines() {
    return this.kept;
  }

  #read(stream, { onLine, keepFirst = 0 }) {
    if (!stream) return;
    createInterface({ input: stream }).on('line', (line) => {
      this.kept.push(line);
      if (this.kept.length > keepFirst + LAST_LINES) this.kept.splice(keepFirst, 2, '…');
      onLine?.(line);
    });
  }
}

/** Describes how a process exited. */
export function describeExit({ code, signal, error }) {
  if (error) return error.code === 'ENOENT' ? 'is not on PATH' : `could not be started (${error.message})`;
  return signal ? `was terminated by ${signal}` : `exited with code ${code}`;
}
