import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { LOCAL } from '../tools/checkout/root.mjs';
import { StepError } from '../tools/steps.mjs';
import { loadCatalogue } from './catalogue.mjs';
import { Databases } from './databases.mjs';
import { Meter } from './meter.mjs';
import { resultOf, table } from './report.mjs';
import { besideSearchesRow, createRows, growthRows, indexSizes, largeRows, warmUp } from './scale-rows.mjs';
import { chooseWords } from './scale-words.mjs';
import { statusChangeRow } from './status-change.mjs';
import { environment, hasUnindexed, startBoth } from './subjects.mjs';

const FULL = {
  small: 20_000,
  large: 1_000_000,
  ids: 20_000,
  pageSize: 50,
  rounds: 5,
  initialWarmUpMs: 4000,
  warmUpMs: 300,
  ms: 2000,
  statusChanges: 4000,
};
const QUICK = {
  small: 2000,
  large: 50_000,
  ids: 2000,
  pageSize: 20,
  rounds: 3,
  initialWarmUpMs: 1500,
  warmUpMs: 200,
  ms: 600,
  statusChanges: 1000,
};
const CURRENT_WITHIN_MS = 300_000;
const POLL_INTERVAL_MS = 500;

/**
 * Measures whether the cost of reading grows with the catalogue: the service alone, on a small and a large one.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {{quick: boolean, data?: string}} options
 * @returns {Promise<import('./report.mjs').Result>}
 */
export async function runBenchmark(launcher, { quick, data }) {
  const [loadBefore] = loadavg();
  const size = quick ? QUICK : FULL;
  const databases = await Databases.start(launcher, { data });
  const versions = await databases.versions();
  const small = await startSubject(launcher, databases, size.small);
  const large = await startSubject(launcher, databases, size.large);
  const { chosen: words, frequencies } = await launcher.steps.run('count words', () => chooseWords(small.db, large.db));

  const meter = new Meter(launcher, databases, { keyed: false });
  const folder = launcher.temporaryFolder(LOCAL);
  const bench = { launcher, meter, folder, size, words, small, large, plots: {} };
  const indexes = await indexSizes(large);
  await launcher.steps.run('warm-up', () => warmUp(bench));
  const rows = [
    ...(await growthRows(bench)),
    ...(await largeRows(bench)),
    await besideSearchesRow(bench),
    indexes.row,
    await statusChangeRow(bench),
    ...(await createRows(bench)),
  ];
  await databases.close();

  const notes = [
    `The service with ${large.title} against the same with ${small.title}, in the same MongoDB.`,
    `${size.rounds} interleaved rounds of ${size.ms / 1000} s; a ratio is taken in each round, of medians.`,
    `Load average before: ${loadBefore.toFixed(1)}.`,
  ];
  const more = [wordsTable(words, frequencies), indexes.table];
  return resultOf({ versions, notes, rows, more, meter, plots: bench.plots });
}

/** @returns {Promise<import('./subjects.mjs').Subject & {db: import('mongoose').mongo.Db}>} */
async function startSubject(launcher, databases, count) {
  const { name, lastPublicId } = await loadCatalogue(launcher, databases, count);
  const env = await environment(databases, name);
  const pids = await startBoth(launcher, env);
  const db = databases.db(name);
  const items = db.collection('items');
  const title = `${count.toLocaleString('en')} items`;
  await launcher.steps.run(`lapsed boosts of ${title}`, () => waitUntilNoneHasLapsed(items));
  return {
    name,
    title,
    port: Number(env.PORT),
    pids,
    db,
    countItems: () => items.countDocuments({ publicId: { $gt: lastPublicId } }),
    hasUnindexed: () => hasUnindexed(items),
  };
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

/** Returns a table of the words, and of how many visible items of the small and of the large database have them. */
function wordsTable(words, frequencies) {
  const counted = (term) => `\`${term}\`: ${frequencies[term].map((count) => count.toLocaleString('en')).join(', ')}`;
  const lines = Object.entries(words).map(([kind, terms]) => [kind, terms.map(counted).join('; ')]);
  return table(['Search', 'Visible items with the word: small database, large database'], lines);
}
