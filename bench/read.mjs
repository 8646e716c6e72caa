import { deepStrictEqual, strictEqual } from 'node:assert';
import { anyFreePort } from '../tools/processes/ports.mjs';
import { loadCatalogue } from './catalogue.mjs';
import { measureGroup, READS_PER_SECOND } from './figures.mjs';
import { readGroups } from './read-groups.mjs';
import { call, compilePeers, startSubject, titleOf } from './subjects.mjs';

export const FULL = { items: 100_000, ids: 20_000, rounds: 5, warmUpMs: 500, ms: 3000, initialWarmUpMs: 4000 };
export const QUICK = { items: 10_000, ids: 5000, rounds: 3, warmUpMs: 200, ms: 1000, initialWarmUpMs: 1500 };
const CONNECTIONS = 32;

/**
 * Compares reading with what a team would write instead, all on the same items of one database.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { size, options } = bench;
  const { env, db } = await loadCatalogue(bench, size.items);
  const subjects = await startSubjects(bench, env);
  const isSelected = ({ title }) => options.only.length === 0 || options.only.some((part) => title.includes(part));
  const groups = (await readGroups(db, size.ids)).filter(isSelected);
  if (options.against) groups.forEach((group) => (group.against = { other: {} }));
  for (const group of groups) await requireSameItems(subjects, group);

  const rows = [];
  for (const group of groups) rows.push(...(await groupRows(bench, subjects, group)));
  const notes = [
    `${size.items.toLocaleString('en')} items, read by all from the same collection by the same indexes.`,
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round.`,
  ];
  return { notes, rows };
}

async function groupRows(bench, subjects, { title, operation, inputs, against }) {
  const { warmUpMs, ms, initialWarmUpMs } = bench.size;
  const names = ['service', ...Object.keys(against)];
  const reads = { operation, inputs, connections: CONNECTIONS };
  const used = names.map((name) => subjects[name]);
  await bench.meter.warmUp(used, { reads: { ...reads, ms: initialWarmUpMs } });
  const { rows } = await measureGroup(bench, subjects, title, {
    variants: Object.fromEntries(names.map((name) => [name, { reads: { ...reads, warmUpMs, ms } }])),
    figures: Object.entries(against).map(([peer, targets]) => {
      const full = `${title}, ${CONNECTIONS} connections, against ${titleOf(peer)}`;
      return { ...READS_PER_SECOND, title: full, against: peer, ...targets };
    }),
  });
  return rows;
}

/** Starts no worker, because it would clear lapsed boosts while the peers are measured. */
async function startSubjects({ launcher, options }, env) {
  const folder = await compilePeers(launcher);
  const subjects = {};
  for (const name of ['service', ...(options.against ? ['other'] : []), 'direct', 'minimal']) {
    const ownEnv = { ...env, PORT: String(await anyFreePort()) };
    const root = name === 'other' ? options.against : undefined;
    subjects[name] = await startSubject(launcher, name, ownEnv, { root, folder, processes: ['api'] });
  }
  return subjects;
}

/** Requires that all subjects return the same items: a benchmark of different results would be worthless. */
async function requireSameItems(subjects, { operation, inputs, against }) {
  for (const input of [inputs[0], inputs.at(-1)]) {
    const ours = await call(subjects.service.port, operation, input);
    if (operation === 'getAll') strictEqual(ours.length, input.pageSize, `a page of ${JSON.stringify(input)}`);
    for (const { port, title } of Object.keys(against).map((peer) => subjects[peer])) {
      const theirs = await call(port, operation, input);
      deepStrictEqual(theirs, ours, `${title} returns something else for ${operation} ${JSON.stringify(input)}`);
    }
  }
}
