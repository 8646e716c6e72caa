import { writeFileSync } from 'node:fs';
import getPort, { portNumbers } from 'get-port';
import { procFile, statOf } from '../tools/processes/proc.mjs';

/** Below the ports that Linux assigns to connections, one of which could take a port before its process listens. */
const PORTS = portNumbers(20_000, 29_999);

/** Linux counts CPU time in hundredths of a second (`getconf CLK_TCK`). */
const MS_PER_TICK = 10;

/** Returns a port for a process. It has not been returned before. */
export function freePort() {
  return getPort({ port: PORTS, reserve: true });
}

/** Returns the CPU time of all threads of a process so far, in ms, or NaN without /proc. */
export function cpuMsOf(pid) {
  // utime and stime are the 14th and 15th field.
  const { 11: user, 12: system } = statOf(pid);
  return (Number(user) + Number(system)) * MS_PER_TICK;
}

/** Resets the peak that {@link peakMegabytesOf} returns. */
export function resetPeakOf(pid) {
  try {
    // proc_pid_clear_refs(5): 5 resets the peak to the current resident set size.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Not Linux, or a container without this file: the peak then covers the whole life of the process.
  }
}

/** Returns the peak resident memory of a process in MB, or NaN without /proc. */
export function peakMegabytesOf(pid) {
  const kilobytes = /^VmHWM:\s+(\d+) kB/m.exec(procFile(pid, 'status'))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}
