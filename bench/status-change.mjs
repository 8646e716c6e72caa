import { milliseconds, ratio, rowOf } from './figures.mjs';
import { interleave } from './groups.mjs';
import { cpuMsOf } from './processes.mjs';

const CPU = milliseconds("MongoDB's CPU of a status change", (ms) => ms);
const CONCURRENCY = 8;

/** Measures what a status change by another service costs MongoDB, against the same without a search index. */
export async function statusChangeRow({ launcher, databases, size }, { db, title }) {
  const { mongod } = databases.pids;
  const items = db.collection('items');
  const stages = [{ $sample: { size: size.statusChanges } }, { $project: { _id: 1 } }];
  const ids = (await items.aggregate(stages).toArray()).map(({ _id }) => _id);
  const statuses = await items.distinct('status');
  const copies = { searched: await copy(db, true), unsearched: await copy(db, false) };
  let round = 0;
  const results = await launcher.steps.run('status changes', () =>
    interleave(Object.keys(copies), size.rounds, async (name) => {
      const before = cpuMsOf(mongod);
      await changeStatuses(copies[name], ids, statuses, round++);
      return (cpuMsOf(mongod) - before) / ids.length;
    }),
  );
  for (const collection of Object.values(copies)) await collection.drop();
  const figure = ratio(CPU, ` against one without an index of search, ${title}`, ['searched', 'unsearched'], 1.6, 1.2);
  return rowOf(figure, results);
}

/** Copies the items, so that the changes do not affect other figures. */
async function copy(db, isSearched) {
  const items = db.collection('items');
  const name = `items-${isSearched ? 'searched' : 'unsearched'}`;
  await items.aggregate([{ $out: name }]).toArray();
  const indexes = (await items.indexes()).filter((index) => index.name !== '_id_');
  const copied = db.collection(name);
  await copied.createIndexes(indexes.filter(({ key }) => isSearched || !('searchTerms' in key)));
  return copied;
}

/** Updates the items individually, as another service would. */
async function changeStatuses(items, ids, statuses, round) {
  const updatedAt = new Date();
  for (let first = 0; first < ids.length; first += CONCURRENCY) {
    const updates = ids.slice(first, first + CONCURRENCY).map((_id, index) => {
      const status = statuses[(first + index + round) % statuses.length];
      return items.updateOne({ _id }, { $set: { status, updatedAt } });
    });
    await Promise.all(updates);
  }
}
