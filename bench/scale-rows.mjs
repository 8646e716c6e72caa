import { prepare, randomIds } from './prepared.mjs';
import { growthPlot } from './plots.mjs';
import { table } from './report.mjs';
import { interleave, median } from './rounds.mjs';
import { compared, duration, mongodbCpu, rate, TIMES } from './rows.mjs';
import { growthQueries, largeQueries, checkResponses, searchQuery } from './scale-queries.mjs';

const CONNECTIONS = 8;
const CREATE_CONNECTIONS = 64;
const READS_PER_SECOND = 100;
const TERMS_SAMPLE = 10_000;

/** Runs each subject before it is measured, until V8 has compiled its code and its caches are filled. */
export async function warmUp({ meter, folder, size, small, large }) {
  const file = prepare(folder, 'warm-up', { operation: 'getAll', inputs: [{ pageSize: size.pageSize }] });
  const prepared = { file, connections: CONNECTIONS, warmUpMs: 0, ms: size.initialWarmUpMs };
  for (const subject of [small, large]) await meter.measure(subject, { prepared });
}

/** Measures how many times as long each query takes in the large database as in the small one. */
export async function growthRows(bench) {
  const { launcher, size, words } = bench;
  const subjects = { small: bench.small, large: bench.large };
  const queries = {};
  for (const [name, { db }] of Object.entries(subjects)) queries[name] = await growthQueries(db, size, words);
  const rows = [];
  const times = [];
  for (const [index, { figure, must, aim }] of queries.large.entries()) {
    const results = await launcher.steps.run(figure, () => {
      const loads = Object.keys(subjects).map((name) => [
        name,
        { subject: subjects[name], query: queries[name][index] },
      ]);
      return measureInTurn(bench, Object.fromEntries(loads));
    });
    times.push({ figure, large: median(results.large), small: median(results.small) });
    const title = `p50 of ${figure}, ${bench.large.title} against ${bench.small.title}`;
    rows.push(compared(results.large, results.small, duration, { figure: title, better: 'less', must, aim }));
  }
  bench.plots.size = growthPlot(times, { large: bench.large.title, small: bench.small.title });
  return rows;
}

/** Measures how many times as long queries that look expensive take as the first page, in the large database. */
export async function largeRows(bench) {
  const { launcher, large, size, words } = bench;
  const queries = await launcher.steps.run('look for page 1,000', () => largeQueries(large.port, size.pageSize, words));
  const loads = Object.entries(queries).map(([name, query]) => [name, { subject: large, query }]);
  const results = await launcher.steps.run('within the large one', () =>
    measureInTurn(bench, Object.fromEntries(loads)),
  );
  const row = (name, targets) => {
    const figure = `p50 of ${queries[name].figure} against the first page, ${size.pageSize} per page, ${large.title}`;
    return compared(results[name], results.first, duration, { figure, better: 'less', ...targets });
  };
  return [
    row('common', { must: 2, aim: 1.2 }),
    row('deep', { must: 5, aim: 2 }),
    row('after', { must: 1.3, aim: 1.05 }),
  ];
}

/** Measures how long getById takes alongside searches that examine many items and find none. */
export async function besideSearchesRow({ launcher, meter, folder, size, words, large }) {
  const [{ id }] = await randomIds(large.db, 1);
  const file = prepare(folder, 'beside', searchQuery('disjoint, less rare', words));
  const reads = { id, rate: READS_PER_SECOND };
  const loads = {
    idle: { reads: { ...reads, ms: size.ms } },
    beside: { reads, prepared: { file, connections: CONNECTIONS, warmUpMs: size.warmUpMs, ms: size.ms } },
  };
  const results = await launcher.steps.run('getById beside searches', () =>
    interleave(Object.keys(loads), size.rounds, (name) => meter.measure(large, loads[name])),
  );
  const [beside, idle] = [results.beside, results.idle].map((rounds) => rounds.map((round) => round.reads.ms.p99));
  const figure = `p99 of getById beside ${CONNECTIONS} searches, disjoint, less rare, against idle, ${large.title}`;
  return compared(beside, idle, duration, { figure, better: 'less', must: 5, aim: 2 });
}

/** Returns the total size of the indexes against that of the documents, and the size of each index. */
export async function indexSizes({ db, title }) {
  const items = db.collection('items');
  const [{ storageStats }] = await items.aggregate([{ $collStats: { storageStats: {} } }]).toArray();
  const [{ terms }] = await items
    .aggregate([
      { $sample: { size: TERMS_SAMPLE } },
      { $group: { _id: null, terms: { $avg: { $size: '$searchTerms' } } } },
    ])
    .toArray();
  const { size, storageSize, totalIndexSize, indexSizes: sizes } = storageStats;
  const of = `${megabytes(totalIndexSize)} to ${megabytes(size)} (${megabytes(storageSize)} compressed)`;
  const figure = `size of the indexes against that of the data, ${title}`;
  const lines = Object.entries(sizes)
    .sort(([, a], [, b]) => b - a)
    .map(([name, bytes]) => [`\`${name}\``, megabytes(bytes)]);
  return {
    row: { figure, better: 'less', must: 0.6, aim: 0.45, ...TIMES, values: [totalIndexSize / size], note: of },
    table: table([`Index of ${title}, with ${terms.toFixed(1)} search terms each`, 'Size'], lines),
  };
}

/** Measures creates. Has to run last, because it adds items. */
export async function createRows({ launcher, meter, size, small, large }) {
  const subjects = { small, large };
  const steady = { connections: CREATE_CONNECTIONS, warmUpMs: size.warmUpMs, ms: size.ms };
  const results = await launcher.steps.run('creates', () =>
    interleave(Object.keys(subjects), size.rounds, (name) => meter.measure(subjects[name], { steady })),
  );
  const [ours, theirs] = [results.large, results.small].map((rounds) => rounds.map(({ creates }) => creates.perSecond));
  const figure = `creates/s, ${CREATE_CONNECTIONS} connections, ${large.title} against ${small.title}`;
  return [
    compared(ours, theirs, rate, { figure, better: 'more' }),
    ...Object.entries(subjects).map(([name, { title }]) => ({
      figure: `MongoDB's CPU per create with its indexing, ${CREATE_CONNECTIONS} connections, ${title}`,
      better: 'less',
      values: results[name].map(mongodbCpu),
      unit: ' ms',
      digits: 3,
    })),
  ];
}

/**
 * Returns medians in ms by name, one per round. A query with an incorrect response is not measured: it is reported, and
 * its medians are NaN.
 * @param {Record<string, {subject: import('./subjects.mjs').Subject, query: import('./scale-queries.mjs').Query}>} loads
 */
async function measureInTurn({ meter, folder, size }, loads) {
  const files = {};
  for (const [name, { subject, query }] of Object.entries(loads)) {
    if (await isCorrect(meter, subject, query)) files[name] = prepare(folder, name, query);
  }
  const { warmUpMs, ms } = size;
  return interleave(Object.keys(loads), size.rounds, async (name) => {
    const file = files[name];
    if (file === undefined) return NaN;
    const { subject, query } = loads[name];
    const { reads } = await meter.measure(subject, { prepared: { file, connections: CONNECTIONS, warmUpMs, ms } });
    // JSON has no NaN: the generator's report contains null instead.
    if (reads.ms.p50 === null) meter.report(`${subject.title}, ${query.figure}: no response within ${ms} ms`);
    return reads.ms.p50 ?? NaN;
  });
}

async function isCorrect(meter, subject, query) {
  try {
    await checkResponses(subject, query);
    return true;
  } catch (error) {
    meter.report(`${subject.title}, ${query.figure}: ${error.message.split('\n', 1)}`);
    return false;
  }
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
