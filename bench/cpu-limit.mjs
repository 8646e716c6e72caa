import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../tools/steps.mjs';

const ROOT = '/sys/fs/cgroup';
/** The period of Docker's `cpus`. */
const PERIOD_US = 100_000;

/** Limits the CPU time of a process to a share of a core, as `cpus:` in a compose file does. Needs Linux and root. */
export class CpuLimit {
  #folder;

  constructor(name, cores) {
    const isVersion1 = existsSync(join(ROOT, 'cpu', 'cgroup.procs'));
    this.#folder = join(ROOT, isVersion1 ? 'cpu' : '', name);
    const quota = String(cores * PERIOD_US);
    try {
      if (!isVersion1) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu');
      mkdirSync(this.#folder, { recursive: true });
      if (isVersion1) {
        this.#write('cpu.cfs_period_us', String(PERIOD_US));
        this.#write('cpu.cfs_quota_us', quota);
      } else this.#write('cpu.max', `${quota} ${PERIOD_US}`);
    } catch (error) {
      throw new StepError(`Cannot limit CPU time: ${error.message}`, { hint: 'run as root on Linux' });
    }
  }

  /** Moves a process into the limit. */
  add(pid) {
    this.#write('cgroup.procs', String(pid));
  }

  /** Call this after its process has ended. */
  remove() {
    rmdirSync(this.#folder);
  }

  #write(file, value) {
    writeFileSync(join(this.#folder, file), value);
  }
}
