import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./reaper.mjs', import.meta.url));

/** The launcher's end of the pipe to `reaper.mjs`, which is started once there is something to clean up. */
export class ReaperPipe {
  #stdin;

  /** @param {import('./stop-in-order.mjs').Target} target to stop if this process is killed */
  started(target) {
    this.#send(`+${JSON.stringify(target)}`);
  }

  /** @param {number} pid of a target that has exited */
  ended(pid) {
    this.#send(`-${pid}`);
  }

  /** @param {string} folder to remove if this process is killed */
  folder(folder) {
    this.#send(`~${folder}`);
  }

  /** Tells the reaper that nothing is left to clean up. */
  done() {
    if (this.#stdin) this.#send('done');
  }

  #send(line) {
    this.#stdin ??= start();
    this.#stdin.write(`${line}\n`);
  }
}

function start() {
  const env = { PATH: process.env.PATH }; // Not NODE_OPTIONS: the port of a debugger is already in use.
  const reaper = spawn(process.execPath, [SCRIPT], { env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without the reaper, everything works except for cleaning up after a kill.
  reaper.on('error', () => {});
  reaper.stdin.on('error', () => {});
  reaper.unref();
  reaper.stdin.unref();
  return reaper.stdin;
}
