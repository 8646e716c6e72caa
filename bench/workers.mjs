import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { CpuLimit } from './cpu-limit.mjs';
import { CREATES_PER_SECOND, measureGroup, median, READS_PER_SECOND } from './figures.mjs';
import { table } from './report.mjs';
import { call, hasUnindexed, startChild, startSubject } from './subjects.mjs';

export const FULL = { rounds: 5, warmUpMs: 3000, ms: 8000, initialWarmUpMs: 8000 };
export const QUICK = { rounds: 1, warmUpMs: 2000, ms: 4000, initialWarmUpMs: 3000 };
const CORES = 0.1;
const MUSTS = { 1: undefined, 2: 1.8, 4: 3.3, 8: 5.5 };
const COUNTS = Object.keys(MUSTS);

/**
 * Measures whether processes that are each held to a tenth of a core do as much as several times one: workers that store
 * creates, and APIs that read.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { warmUpMs, ms, rounds, initialWarmUpMs } = bench.size;
  const env = { ...(await bench.databases.environment('service')), DEMO_CATALOGUE: 'on' };
  const service = await startApi(bench, env);
  const creates = { connections: 256 };
  const reads = { operation: 'getById', inputs: [{ id: service.itemId }], connections: 64 };
  await bench.meter.warmUp({ service }, { reads: { ...reads, ms: initialWarmUpMs } });

  const groups = [
    ['creates/s', 'workers', CREATES_PER_SECOND, { creates: { ...creates, warmUpMs, ms } }],
    ['getById/s', 'APIs', READS_PER_SECOND, { reads: { ...reads, warmUpMs, ms } }],
  ];
  const rows = [];
  const lines = [];
  for (const [title, kind, figure, load] of groups) {
    const pool = new Pool(bench.launcher, kind === 'workers' ? 'worker' : 'api', env);
    const { rows: ofKind, results } = await measureGroup(bench, { service }, `${title} with ${kind}`, {
      variants: Object.fromEntries(COUNTS.map((count) => [count, { subject: 'service', ...load }])),
      before: (count, subject) => pool.start(Number(count), subject),
      after: () => pool.stop(),
      figures: COUNTS.slice(1).map((count) => ({
        ...figure,
        title: `${title} with ${count} ${kind} of ${CORES} cores, against one`,
        variant: count,
        against: '1',
        must: MUSTS[count],
        aim: Number(count),
      })),
    });
    rows.push(...ofKind);
    lines.push([`${title} with ${kind}`, ...COUNTS.map((count) => median(results[count].map(figure.of)).toFixed(0))]);
  }
  const notes = [`${rounds} interleaved rounds of ${ms / 1000} s. MongoDB, Redis and the other process have no limit.`];
  return { notes, rows, tables: [table(['', ...COUNTS], lines)] };
}

/** Starts an API without a limit and without workers, on a database with the demo catalogue. */
async function startApi({ launcher, databases }, env) {
  for (const command of ['setup', 'demo']) await runCli(launcher, command, env);
  const db = databases.db('service');
  const service = await startSubject(launcher, 'service', env, { processes: ['api'] });
  const [{ id }] = await call(service.port, 'getAll', { pageSize: 1 });
  const countItems = () => db.collection('items').countDocuments();
  return { ...service, itemId: id, countItems, hasUnindexed: () => hasUnindexed(db) };
}

/** Processes of one kind, each with a limit of its own. */
class Pool {
  #launcher;
  #kind;
  #env;
  #members = [];

  constructor(launcher, kind, env) {
    this.#launcher = launcher;
    this.#kind = kind;
    this.#env = env;
  }

  /** Starts this many, and limits them once they are ready. */
  async start(count, subject) {
    this.#members = await Promise.all(Array.from({ length: count }, (_, index) => this.#startMember(index)));
    const pids = this.#members.map(({ child }, index) => [`${this.#kind} ${index + 1}`, child.pid]);
    // The load goes to all APIs.
    if (this.#kind === 'api') subject.port = this.#members.map(({ port }) => port);
    else subject.pids = { api: subject.pids.api, ...Object.fromEntries(pids) };
  }

  async stop() {
    await Promise.all(
      this.#members.map(async ({ child, limit }) => {
        process.kill(child.pid, 'SIGTERM');
        await child.exited;
        limit.remove();
      }),
    );
  }

  async #startMember(index) {
    const port = await anyFreePort();
    const env = { ...this.#env, PORT: String(port), WORKER_PORT: String(port) };
    const name = `${this.#kind} ${index + 1}`;
    const child = await startChild(this.#launcher, name, serviceArguments(this.#kind), port, env);
    const limit = new CpuLimit(`item-listing-bench-${process.pid}-${index}`, CORES);
    limit.add(child.pid);
    return { child, port, limit };
  }
}
