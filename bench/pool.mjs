import getPort from 'get-port';
import { serviceArguments } from '../tools/start/services.mjs';
import { limitCpu } from './cpu-limit.mjs';
import { startProcess } from './subjects.mjs';

/**
 * Starts workers or APIs, and waits until they are ready. The subject's `pids` or `port` become theirs. Returns `limit`,
 * which limits each to a share of a core from then on, and `stop`.
 * @param {'worker' | 'api'} kind
 */
export async function startPool({ launcher }, subject, kind, count) {
  const start = async (_, index) => {
    const port = await getPort();
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
