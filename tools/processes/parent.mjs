import { parentOf, programOf } from './identity.mjs';

const POLL_INTERVAL_MS = 500;
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'busybox']);

/**
 * Calls `callback` once the npm that runs this process has exited. Killing npm does not end its script, which only gets
 * another parent. Does nothing without npm: a tool started by hand may outlive its shell.
 * @param {() => void} callback
 */
export function onParentExit(callback) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  // Some shells stay between npm and its script. Then it is the shell that gets another parent.
  const grandparent = SHELLS.has(programOf(parent)) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const same = process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent);
    if (same) return;
    clearInterval(timer);
    callback();
  }, POLL_INTERVAL_MS);
  timer.unref();
}
