import { readFileSync, writeFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second (`getconf CLK_TCK`). */
const MS_A_TICK = 10;

/** CPU time the process has used so far, in ms, all threads; NaN where there is no /proc. */
export function cpuMsOf(pid) {
  const stat = read(pid, 'stat');
  // proc_pid_stat(5): utime and stime are the 14th and 15th field, the 12th and 13th behind the name in parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_A_TICK;
}

/** Lets the peak of {@link peakMegabytesOf} begin anew. */
export function forgetPeakOf(pid) {
  try {
    // proc_pid_clear_refs(5): 5 sets the high water mark to what is resident now.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Not Linux, or a container without it: then the peak is that of the whole life.
  }
}

/** The most memory the process has had resident, in MB; NaN where there is no /proc. */
export function peakMegabytesOf(pid) {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(read(pid, 'status'))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
