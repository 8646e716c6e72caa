import { setTimeout as delay } from 'node:timers/promises';
import { StepError } from '../tools/steps.mjs';
import { loadCatalogue } from './catalogue.mjs';
import { duration, median, megabytes, times } from './figures.mjs';
import { barPlot } from './plots.mjs';
import { table } from './report.mjs';
import { besideSearchesRows, createRows, largeRows, measureGrowth } from './scale-rows.mjs';
import { chooseWords } from './scale-words.mjs';
import { statusChangeRow } from './status-change.mjs';
import { randomIds } from './read-groups.mjs';
import { hasUnindexed, startSubject } from './subjects.mjs';

const FULL_TIMES = { rounds: 5, initialWarmUpMs: 4000, warmUpMs: 300, ms: 2000 };
const QUICK_TIMES = { rounds: 3, initialWarmUpMs: 1500, warmUpMs: 200, ms: 600 };
export const FULL = { small: 20_000, large: 1_000_000, ids: 20_000, pageSize: 50, statusChanges: 4000, ...FULL_TIMES };
export const QUICK = { small: 2000, large: 50_000, ids: 2000, pageSize: 20, statusChanges: 1000, ...QUICK_TIMES };
const CURRENT_WITHIN_MS = 300_000;
const POLL_INTERVAL_MS = 500;

/**
 * Measures whether the cost of reading grows with the catalogue: the service alone, on a small and a large one.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { launcher, meter, size } = bench;
  const subjects = { small: await start(bench, size.small), large: await start(bench, size.large) };
  const { small, large } = subjects;
  const { words, counts } = await launcher.steps.run('count words', () => chooseWords(small.db, large.db));
  const indexes = await indexSizes(large);
  const firstPage = { operation: 'getAll', inputs: [{ pageSize: size.pageSize }], connections: 8 };
  await meter.warmUp(subjects, { reads: { ...firstPage, ms: size.initialWarmUpMs } });
  const growth = await measureGrowth(bench, subjects, words);
  const rows = [
    ...growth.flatMap((query) => query.rows),
    ...(await largeRows(bench, subjects, words)),
    ...(await besideSearchesRows(bench, subjects, words)),
    indexes.row,
    await statusChangeRow(bench, small),
    // Last, because they add items.
    ...(await createRows(bench, subjects)),
  ];
  const notes = [
    `The service with ${large.title} against the same with ${small.title}, in the same MongoDB.`,
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round, of medians.`,
  ];
  return {
    notes,
    rows,
    tables: [wordsTable(words, counts), indexes.table],
    plots: { size: growthPlot(growth, subjects) },
  };
}

async function start(bench, count) {
  const { env, db, lastPublicId } = await loadCatalogue(bench, count);
  const items = db.collection('items');
  const title = `${count.toLocaleString('en')} items`;
  const subject = await startSubject(bench.launcher, 'service', env);
  await bench.launcher.steps.run(`lapsed boosts of ${title}`, () => waitUntilNoneHasLapsed(items));
  const countItems = () => items.countDocuments({ publicId: { $gt: lastPublicId } });
  const [{ id: itemId }] = await randomIds(db, 1);
  return { ...subject, title, itemId, db, countItems, hasUnindexed: () => hasUnindexed(db) };
}

/** Boosts in kept data lapse between runs. Waits until the worker has cleared them, before reads are measured. */
async function waitUntilNoneHasLapsed(items) {
  const lapsed = { isBoosted: true, boostExpiresAt: { $lte: new Date() } };
  const since = performance.now();
  while ((await items.countDocuments(lapsed, { limit: 1 })) > 0) {
    if (performance.now() - since > CURRENT_WITHIN_MS) throw new StepError('The worker did not clear lapsed boosts');
    await delay(POLL_INTERVAL_MS);
  }
}

/** Returns the total size of the indexes against that of the documents, and the size of each index. */
async function indexSizes({ db, title }) {
  const [{ storageStats }] = await db
    .collection('items')
    .aggregate([{ $collStats: { storageStats: {} } }])
    .toArray();
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

function growthPlot(growth, { large, small }) {
  const valuesOf = (name) => growth.map(({ results }) => median(results[name].map(({ reads }) => reads.ms.p50)));
  const series = [
    { name: large.title, values: valuesOf('large') },
    { name: small.title, values: valuesOf('small') },
  ];
  const groups = growth.map((query) => query.title);
  return barPlot({ title: 'p50 of a read, by the size of the catalogue', groups, series, format: duration });
}

/** Returns a table of the words, and of how many visible items of the small and of the large database have them. */
function wordsTable(words, counts) {
  const counted = (term) => `\`${term}\`: ${counts[term].map((count) => count.toLocaleString('en')).join(', ')}`;
  const lines = Object.entries(words).map(([kind, terms]) => [kind, terms.map(counted).join('; ')]);
  return table(['Search', 'Visible items with the word: small database, large database'], lines);
}
