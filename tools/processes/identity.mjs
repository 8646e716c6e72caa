import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** @typedef {{pid: number, startTime: string | undefined}} Identity of a process, even if its pid is reused */

/**
 * Identifies a process by pid and start time: pids are reused, and a signal must never reach an unrelated process.
 * @param {number} pid
 * @returns {Identity} `startTime` is undefined when there is no such process
 */
export function identify(pid) {
  return { pid, startTime: inspect(pid)?.startTime };
}

/** Whether exactly this process is still running. A zombie is not. */
export function isProcessRunning({ pid, startTime }) {
  const now = inspect(pid);
  return now !== undefined && now.startTime === startTime && !now.ended;
}

/**
 * Whether any process is still running in the group that this process leads or led.
 * @param {Identity} leader
 */
export function isGroupRunning({ pid, startTime }) {
  const now = inspect(pid);
  // The id of a group is not reused while it has members, so another leader means that ours is empty.
  if (now !== undefined && now.startTime !== startTime) return false;
  return allProcesses().some((candidate) => candidate.group === pid && !candidate.ended);
}

/** Returns the pid of the parent of any process. */
export function parentOf(pid) {
  return inspect(pid)?.parent;
}

/** Returns the name of the program that a process runs, truncated to 15 characters on Linux. */
export function programOf(pid) {
  return inspect(pid)?.program;
}

function inspect(pid) {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(['-p', String(pid)])[0];
}

function allProcesses() {
  if (process.platform !== 'linux') return fromPs(['-ax']);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => fromProc(pid)).filter((found) => found !== undefined);
}

/**
 * Reads `/proc/[pid]/stat`. The name is in parentheses, and may itself contain parentheses and spaces.
 * @see https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
function fromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent, group, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const program = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
    return { parent: Number(parent), group: Number(group), startTime: rest[16], ended: 'ZX'.includes(state), program };
  } catch {
    return undefined;
  }
}

function fromPs(selection) {
  try {
    const columns = ['ppid=', 'pgid=', 'stat=', 'lstart=', 'comm='].flatMap((column) => ['-o', column]);
    const text = execFileSync('ps', [...selection, ...columns], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(fromPsLine);
  } catch {
    return [];
  }
}

function fromPsLine(line) {
  const [parent, group, state, ...rest] = line.trim().split(/\s+/);
  const program = rest.slice(5).join(' ').split('/').pop();
  const startTime = rest.slice(0, 5).join(' ');
  return { parent: Number(parent), group: Number(group), startTime, ended: state.startsWith('Z'), program };
}
