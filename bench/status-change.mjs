import { cpuMsOf } from './processes.mjs';
import { interleave } from './rounds.mjs';
import { compared, duration } from './rows.mjs';

/** Copies of the small catalogue: what is changed in them changes no other row. */
const COPIES = { searched: 'items-searched', unsearched: 'items-unsearched' };
const AT_ONCE = 8;

/** What a status change by another service costs MongoDB, against the same without an index of search. */
export async function statusChangeRow({ launcher, meter, size, small: { db, title } }) {
  const { mongod } = meter.databases.pids;
  await launcher.steps.run('copy items', () => copyItems(db));
  const [{ ids }] = await db
    .collection(COPIES.searched)
    .aggregate([{ $sample: { size: size.statusChanges } }, { $group: { _id: null, ids: { $push: '$_id' } } }])
    .toArray();
  const statuses = await db.collection(COPIES.searched).distinct('status');
  let round = 0;
  const costs = await launcher.steps.run('status changes', () =>
    interleave(Object.keys(COPIES), size.rounds, async (name) => {
      const before = cpuMsOf(mongod);
      await changeStatuses(db.collection(COPIES[name]), ids, statuses, round++);
      return (cpuMsOf(mongod) - before) / ids.length;
    }),
  );
  for (const name of Object.values(COPIES)) await db.collection(name).drop();
  return compared(costs.searched, costs.unsearched, duration, {
    figure: `MongoDB's CPU of a status change against one without an index of search, ${title}`,
    better: 'less',
    must: 1.6,
    aim: 1.2,
  });
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

/** As another service would, one by one. */
async function changeStatuses(items, ids, statuses, round) {
  const open = ids.entries();
  const change = async () => {
    for (const [index, _id] of open) {
      const status = statuses[(index + round) % statuses.length];
      await items.updateOne({ _id }, { $set: { status, updatedAt: new Date() } });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, change));
}
