import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** @typedef {{pid: number, startTime: string | undefined}} Identity a process, told from a later one with its number */

/**
 * Identifies a process by number and start time: numbers are used again, and a signal must never reach a stranger.
 * @param {number} pid
 * @returns {Identity} `startTime` is undefined when there is no such process
 */
export function identify(pid) {
  return { pid, startTime: look(pid)?.startTime };
}

/** Whether that very process still runs; one that has ended and only waits to be noticed does not. */
export function isProcessRunning({ pid, startTime }) {
  const now = look(pid);
  return now !== undefined && now.startTime === startTime && !now.ended;
}

/**
 * Whether anything still runs in the process group that this process leads or led.
 * @param {Identity} leader
 */
export function isGroupRunning({ pid, startTime }) {
  const now = look(pid);
  // A group's number stays taken while it has members, so another leader means that ours is empty.
  if (now !== undefined && now.startTime !== startTime) return false;
  return everyProcess().some((candidate) => candidate.group === pid && !candidate.ended);
}

/** The parent's number, for processes whose own `process.ppid` is of no use. */
export function parentOf(pid) {
  return look(pid)?.parent;
}

/** The name of the program a process runs, at most 15 characters of it on Linux. */
export function programOf(pid) {
  return look(pid)?.program;
}

function look(pid) {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(['-p', String(pid)])[0];
}

function everyProcess() {
  if (process.platform !== 'linux') return fromPs(['-ax']);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => fromProc(pid)).filter((found) => found !== undefined);
}

/** proc_pid_stat(5): the name stands in parentheses and may itself contain any of them. */
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
