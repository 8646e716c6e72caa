import { parentOf, programOf } from './identity.mjs';

const LOOK_EVERY_MS = 500;
const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'busybox']);

/**
 * Calls back once when the npm that runs this process is gone. A killed npm takes nobody with it: its script is only
 * handed to another parent. Without npm nothing is watched: a tool started by hand may outlive its shell.
 * @param {() => void} callback
 */
export function whenParentEnds(callback) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  // Some shells stay between npm and its script: then it is the shell that is handed to another parent.
  const grandparent = SHELLS.has(programOf(parent)) ? parentOf(parent) : undefined;
  const timer = setInterval(() => {
    const same = process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent);
    if (same) return;
    clearInterval(timer);
    callback();
  }, LOOK_EVERY_MS);
  timer.unref();
}
