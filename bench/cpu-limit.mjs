import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../tools/steps.mjs';

const CGROUPS = '/sys/fs/cgroup';
/** The period of Docker's `cpus`. */
const PERIOD_US = 100_000;

/**
 * Limits the CPU time of a process to a share of a core, as `cpus:` in a compose file does. Needs Linux and root. Returns a
 * function that removes the limit after the process has ended.
 */
export function limitCpu(pid, cores) {
  const isVersion1 = existsSync(join(CGROUPS, 'cpu', 'cgroup.procs'));
  const folder = join(CGROUPS, isVersion1 ? 'cpu' : '', `item-listing-bench-${pid}`);
  const quota = cores * PERIOD_US;
  const files = isVersion1
    ? { 'cpu.cfs_period_us': PERIOD_US, 'cpu.cfs_quota_us': quota }
    : { 'cpu.max': `${quota} ${PERIOD_US}` };
  try {
    if (!isVersion1) writeFileSync(join(CGROUPS, 'cgroup.subtree_control'), '+cpu');
    mkdirSync(folder, { recursive: true });
    for (const [file, value] of Object.entries({ ...files, 'cgroup.procs': pid }))
      writeFileSync(join(folder, file), String(value));
  } catch (error) {
    throw new StepError(`Cannot limit CPU time: ${error.message}`, { hint: 'run as root on Linux' });
  }
  return () => rmdirSync(folder);
}
