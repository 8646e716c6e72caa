import { interleave, milliseconds, rowOf } from './figures.mjs';
import { cpuMsOf } from './processes.mjs';

/** Copies of the small catalogue, so that the changes do not affect other figures. */
const COPIES = { searched: 'items-searched', unsearched: 'items-unsearched' };
const CONCURRENCY = 8;

/** Measures what a status change by another service costs MongoDB, against the same without a search index. */
export async function statusChangeRow({ launcher, databases, size }, { db, title }) {
  const { mongod } = databases.pids;
  await launcher.steps.run('copy items', () => copyItems(db));
  const searched = db.collection(COPIES.searched);
  const sample = await searched.aggregate([{ $sample: { size: size.statusChanges } }]).toArray();
  const ids = sample.map(({ _id }) => _id);
  const statuses = await searched.distinct('status');
  let round = 0;
  const results = await launcher.steps.run('status changes', () =>
    interleave(Object.keys(COPIES), size.rounds, async (name) => {
      const before = cpuMsOf(mongod);
      await changeStatuses(db.collection(COPIES[name]), ids, statuses, round++);
      return (cpuMsOf(mongod) - before) / ids.length;
    }),
  );
  for (const name of Object.values(COPIES)) await db.collection(name).drop();
  const figureTitle = `MongoDB's CPU of a status change against one without an index of search, ${title}`;
  const figure = milliseconds(figureTitle, (ms) => ms);
  return rowOf({ ...figure, variant: 'searched', against: 'unsearched', must: 1.6, aim: 1.2 }, results);
}

async function copyItems(db) {
  const items = db.collection('items');
  const indexes = (await items.listIndexes().toArray()).filter(({ name }) => name !== '_id_');
  for (const [kind, name] of Object.entries(COPIES)) {
    await items.aggregate([{ $out: name }]).toArray();
    const kept = indexes.filter(({ key }) => kind === 'searched' || !('searchTerms' in key));
    await db.collection(name).createIndexes(kept);
  }
}

/** Updates the items individually, as another service would. */
async function changeStatuses(items, ids, statuses, round) {
  const open = ids.entries();
  const change = async () => {
    for (const [index, _id] of open) {
      const status = statuses[(index + round) % statuses.length];
      await items.updateOne({ _id }, { $set: { status, updatedAt: new Date() } });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, change));
}
