import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./reaper.mjs', import.meta.url));

/** The launcher's end of the pipe to `reaper.mjs`, which is started with the first thing there is to clean up. */
export class ReaperPipe {
  #stdin;

  /** @param {import('./stop-in-order.mjs').Target} target to be stopped should this process be killed */
  started(target) {
    this.#tell(`+${JSON.stringify(target)}`);
  }

  /** @param {number} pid of a target that is gone */
  ended(pid) {
    this.#tell(`-${pid}`);
  }

  /** @param {string} folder to be removed should this process be killed */
  folder(folder) {
    this.#tell(`~${folder}`);
  }

  /** Nothing is left to clean up. */
  bye() {
    if (this.#stdin) this.#tell('bye');
  }

  #tell(line) {
    this.#stdin ??= start();
    this.#stdin.write(`${line}\n`);
  }
}

function start() {
  const env = { PATH: process.env.PATH }; // Not NODE_OPTIONS: a debugger's port is taken already.
  const reaper = spawn(process.execPath, [SCRIPT], { env, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without it everything still works, but for cleaning up after a kill.
  reaper.on('error', () => {});
  reaper.stdin.on('error', () => {});
  reaper.unref();
  reaper.stdin.unref();
  return reaper.stdin;
}
