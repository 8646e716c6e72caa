import { readFileSync } from 'node:fs';

/** Returns the text of a file in /proc/PID, see proc(5). It is empty without that process, or on another system than Linux. */
export function procFile(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the fields of proc_pid_stat(5) from the third on: the second, a name in parentheses, may contain spaces. */
export function statOf(pid) {
  return procFile(pid, 'stat').split(') ').at(-1).split(' ');
}
