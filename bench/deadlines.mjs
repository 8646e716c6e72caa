import { setTimeout as delay } from 'node:timers/promises';
import { interleave } from './rounds.mjs';

const WAIT_S = 3;
const CREATES = { connections: 1000, count: 1000 };
const READS_PER_SECOND = 200;
const STABLE_MS = 1000;

/**
 * Measures a thousand concurrent creates alongside steady reads. Each create states how long it waits, and the service
 * has to respond by then, however busy it is. While the worker is stopped, no create gets its item in time.
 * @param {import('./create-groups.mjs').Bench} bench
 * @returns {Promise<import('./rows.mjs').Row[]>}
 */
export async function deadlines({ meter, subjects: { service }, size }) {
  const reads = { id: service.itemId, rate: READS_PER_SECOND };
  // Without a worker, every create ends with a 504.
  const measure = () => meter.measure(service, { burst: CREATES, waitS: WAIT_S, reads, expected: ['504'] });
  const { working, stopped } = await interleave(['working', 'stopped'], size.largeBursts, (worker) =>
    worker === 'working' ? measure() : withoutWorker(service, measure),
  );
  const title = `1,000 creates at once beside ${READS_PER_SECOND} reads/s, each with ${WAIT_S} s`;
  return [
    lateness(`${title}: latest response after its deadline`, working),
    lateness(`${title}, while the worker is stopped: latest response after its deadline`, stopped),
  ];
}

function lateness(figure, rounds) {
  const seconds = rounds.map(({ creates }) => creates.ms.max / 1000);
  const values = seconds.map((after) => Math.max(0, after - WAIT_S));
  const note = `latest response after ${Math.max(...seconds).toFixed(1)} s`;
  return { figure, better: 'less', must: 0.3, aim: 0.1, unit: ' s', digits: 2, worst: true, values, note };
}

/** Measures without the worker. Then waits until it has caught up, so that its writes do not affect the next load. */
async function withoutWorker({ pids, countItems, hasUnindexed }, measure) {
  process.kill(pids.worker, 'SIGSTOP');
  try {
    return await measure();
  } finally {
    process.kill(pids.worker, 'SIGCONT');
    for (let before = -1, now = 0; before !== now || (await hasUnindexed()); now = await countItems()) {
      before = now;
      await delay(STABLE_MS);
    }
  }
}
