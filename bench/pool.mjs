import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { StepError } from '../tools/steps.mjs';
import { freePort } from './processes.mjs';
import { call, startProcess, startSubject } from './subjects.mjs';

const CGROUPS = '/sys/fs/cgroup';
/** The period of Docker's `cpus`. */
const PERIOD_US = 100_000;

/**
 * Starts an API, but no worker, on a database with the demo catalogue. Its creates may wait long, so that none is refused
 * or gets no item while the workers have little of a core.
 */
export async function startDemoApi(bench) {
  const more = { DEMO_CATALOGUE: 'on', CREATE_WAIT_MS: '120000' };
  const env = { ...(await bench.databases.environment('service')), ...more };
  for (const command of ['setup', 'demo']) await runCli(bench.launcher, command, env);
  const service = await startSubject(bench, 'service', env, { processes: ['api'] });
  const [{ id: itemId }] = await call(service.port, 'getAll', { pageSize: 1 });
  return { ...service, itemId };
}

/**
 * Starts workers or APIs, and waits until they are ready. The subject's `pids` or `port` become theirs. Returns `limit`,
 * which limits each to a share of a core from then on, and `stop`.
 * @param {'worker' | 'api'} kind
 */
export async function startPool({ launcher }, subject, kind, count) {
  const start = async (_, index) => {
    const port = await freePort();
    const env = { ...subject.env, PORT: port, WORKER_PORT: port };
    const child = await startProcess(launcher, `${kind} ${index + 1}`, serviceArguments(kind), port, env);
    return { ...child, port };
  };
  const members = await Promise.all(Array.from({ length: count }, start));
  // The load goes to all APIs.
  if (kind === 'api') subject.port = members.map(({ port }) => port);
  else subject.pids = { api: subject.pids.api, ...Object.fromEntries(members.map(({ name, pid }) => [name, pid])) };
  let limits = [];
  return {
    limit: (cores) => (limits = members.map(({ pid }) => limitCpu(pid, cores))),
    stop: async () => {
      for (const { pid } of members) process.kill(pid, 'SIGTERM');
      await Promise.all(members.map(({ exited }) => exited));
      for (const remove of limits) remove();
    },
  };
}

/**
 * Limits the CPU time of a process to a share of a core, as `cpus:` in a compose file does. Needs Linux and root. Returns
 * a function that removes the limit after the process has ended.
 */
function limitCpu(pid, cores) {
  const isVersion1 = existsSync(join(CGROUPS, 'cpu', 'cgroup.procs'));
  const folder = join(CGROUPS, isVersion1 ? 'cpu' : '', `item-listing-bench-${pid}`);
  const quota = Math.round(cores * PERIOD_US);
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
