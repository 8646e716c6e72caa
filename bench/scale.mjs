import { StepError } from '../tools/steps.mjs';
import { waitUntil } from '../tools/wait-until.mjs';
import { loadCatalogue } from './catalogue.mjs';
import { megabytes, number, times } from './figures.mjs';
import { measureGroups } from './groups.mjs';
import { figurePlot } from './plots.mjs';
import { randomIds } from './read-queries.mjs';
import { table } from './report.mjs';
import { CONNECTIONS, growthGroups, largeGroups, P50 } from './scale-queries.mjs';
import { statusChangeRow } from './status-change.mjs';
import { startSubject } from './subjects.mjs';

/** Measures whether the cost of reading grows with the catalogue: the service alone, on a small and a large one. */
export async function measure(bench) {
  const { meter, size } = bench;
  const subjects = { small: await start(bench, size.small), large: await start(bench, size.large) };
  const { small, large } = subjects;
  const indexes = await indexSizes(Object.values(subjects));
  const statusChange = await statusChangeRow(bench, small);
  const firstPage = { operation: 'getAll', inputs: [{ pageSize: size.pageSize }], connections: CONNECTIONS };
  await meter.warmUp(Object.values(subjects), { reads: { ...firstPage, ms: size.initialWarmUpMs } });
  const growth = await growthGroups(bench, subjects);
  const groups = { ...growth, ...(await largeGroups(bench, large)) };
  const { rows, results } = await measureGroups(bench, subjects, groups);
  const grown = Object.entries(results).filter(([title]) => title in growth);
  const figure = { ...P50, title: 'p50 of a read, by the size of the catalogue' };
  const plots = grown.length > 0 ? { size: figurePlot(figure, grown, (name) => subjects[name].title) } : {};
  const notes = [`The service with ${large.title} against the same with ${small.title}, in the same MongoDB.`];
  return { notes, rows: [...rows, indexes.row, statusChange], tables: [indexes.table], plots };
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

/** Returns the total size of the indexes against that of the documents, and how the indexes grow with the catalogue. */
async function indexSizes(subjects) {
  const catalogues = await Promise.all(subjects.map(storageOf));
  const { size, storageSize, totalIndexSize, indexSizes: sizes } = catalogues.at(-1);
  const row = {
    title: `size of the indexes against that of the data, ${subjects.at(-1).title}`,
    values: [totalIndexSize / size],
    format: times,
    better: 'less',
    must: 0.6,
    aim: 0.45,
    note: `${inMegabytes(totalIndexSize)} to ${inMegabytes(size)} (${inMegabytes(storageSize)} compressed)`,
  };
  const largestFirst = Object.keys(sizes).sort((a, b) => sizes[b] - sizes[a]);
  const cells = (name) =>
    catalogues.flatMap(({ count, indexSizes: { [name]: bytes } }) => [
      inMegabytes(bytes),
      `${number(Math.round(bytes / count))} B`,
    ]);
  const lines = largestFirst.map((name) => [`\`${name}\``, ...cells(name)]);
  const head = ['Index', ...subjects.flatMap(({ title }) => [title, 'per item'])];
  return { row, table: table(head, lines) };
}

/** Returns MongoDB's `storageStats` of the items. */
async function storageOf({ db }) {
  const stages = [{ $collStats: { storageStats: {} } }];
  const [{ storageStats }] = await db.collection('items').aggregate(stages).toArray();
  return storageStats;
}

function inMegabytes(bytes) {
  return megabytes(bytes / 1e6);
}
