import { StepError } from '../tools/steps.mjs';
import { waitUntil } from '../tools/wait-until.mjs';
import { loadCatalogue } from './catalogue.mjs';
import { duration, median, megabytes, number, times } from './figures.mjs';
import { measureGroups } from './groups.mjs';
import { barPlot } from './plots.mjs';
import { randomIds } from './read-queries.mjs';
import { table } from './report.mjs';
import { CONNECTIONS, createGroup, growthGroups, largeGroups } from './scale-queries.mjs';
import { statusChangeRow } from './status-change.mjs';
import { startSubject } from './subjects.mjs';

/**
 * Words of the generated listings, which are always the same, by how many items have them. With `rare`, a search just
 * fills a page of the small database. No item has two disjoint words.
 */
const WORDS = { common: 'abholung', prefix: 'ike', 'two common': 'abholung versand' };
const FULL_WORDS = {
  ...WORDS,
  rare: '태블릿',
  'common and rarer': 'abholung rucknahme',
  disjoint: 'abholung مستقيم',
  'disjoint, less rare': 'abholung jidelni',
};
const QUICK_WORDS = {
  ...WORDS,
  rare: '택배도',
  'common and rarer': 'abholung der',
  disjoint: 'abholung ankara',
  'disjoint, less rare': 'elden koln',
};
const FULL_TIMES = { rounds: 5, initialWarmUpMs: 4000, warmUpMs: 300, ms: 2000, statusChanges: 4000 };
const QUICK_TIMES = { rounds: 3, initialWarmUpMs: 1500, warmUpMs: 200, ms: 600, statusChanges: 1000 };
export const FULL = { ...FULL_TIMES, small: 20_000, large: 1_000_000, ids: 20_000, pageSize: 50, words: FULL_WORDS };
export const QUICK = { ...QUICK_TIMES, small: 2000, large: 50_000, ids: 2000, pageSize: 20, words: QUICK_WORDS };

/**
 * Measures whether the cost of reading grows with the catalogue: the service alone, on a small and a large one.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { meter, size } = bench;
  const subjects = { small: await start(bench, size.small), large: await start(bench, size.large) };
  const { small, large } = subjects;
  const indexes = await indexSizes(large);
  const statusChange = await statusChangeRow(bench, small);
  const firstPage = { operation: 'getAll', inputs: [{ pageSize: size.pageSize }], connections: CONNECTIONS };
  await meter.warmUp(subjects, { reads: { ...firstPage, ms: size.initialWarmUpMs } });
  const growth = await growthGroups(bench, subjects);
  const { rows, results } = await measureGroups(bench, subjects, {
    ...growth,
    ...(await largeGroups(bench, large)),
    // Last, because they add items.
    creates: createGroup(bench, subjects),
  });
  const notes = [
    `The service with ${large.title} against the same with ${small.title}, in the same MongoDB.`,
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round, of medians.`,
  ];
  return {
    notes,
    rows: [...rows, indexes.row, statusChange],
    tables: [indexes.table],
    plots: {
      size: growthPlot(
        Object.keys(growth).filter((title) => title in results),
        results,
        subjects,
      ),
    },
  };
}

async function start(bench, count) {
  const { env, db } = await loadCatalogue(bench, count);
  const title = `${number(count)} items`;
  const subject = await startSubject(bench, 'service', env);
  await bench.launcher.steps.run(`lapsed boosts of ${title}`, () => waitUntilNoneHasLapsed(db.collection('items')));
  const [{ id: itemId }] = await randomIds(db, 1);
  return { ...subject, title, itemId };
}

/** Boosts in kept data lapse between runs. Waits until the worker has cleared them, before reads are measured. */
async function waitUntilNoneHasLapsed(items) {
  const lapsed = { isBoosted: true, boostExpiresAt: { $lte: new Date() } };
  const isNone = async () => (await items.countDocuments(lapsed, { limit: 1 })) === 0;
  if (!(await waitUntil(isNone, { everyMs: 500, withinMs: 300_000 }))) {
    throw new StepError('The worker did not clear lapsed boosts');
  }
}

/** Returns the total size of the indexes against that of the documents, and the size of each index. */
async function indexSizes({ db, title }) {
  const stages = [{ $collStats: { storageStats: {} } }];
  const [{ storageStats }] = await db.collection('items').aggregate(stages).toArray();
  const { size, storageSize, totalIndexSize, indexSizes: sizes } = storageStats;
  const row = {
    title: `size of the indexes against that of the data, ${title}`,
    values: [totalIndexSize / size],
    format: times,
    better: 'less',
    must: 0.6,
    aim: 0.45,
    note: `${inMegabytes(totalIndexSize)} to ${inMegabytes(size)} (${inMegabytes(storageSize)} compressed)`,
  };
  const largestFirst = Object.entries(sizes).sort(([, a], [, b]) => b - a);
  const lines = largestFirst.map(([name, bytes]) => [`\`${name}\``, inMegabytes(bytes)]);
  return { row, table: table([`Index of ${title}`, 'Size'], lines) };
}

function inMegabytes(bytes) {
  return megabytes(bytes / 1e6);
}

function growthPlot(groups, results, { large, small }) {
  const valuesOf = (name) => groups.map((title) => median(results[title][name].map(({ reads }) => reads.ms.p50)));
  const series = [
    { name: large.title, values: valuesOf('large') },
    { name: small.title, values: valuesOf('small') },
  ];
  return barPlot({ title: 'p50 of a read, by the size of the catalogue', groups, series, format: duration });
}
