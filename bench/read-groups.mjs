import mongoose from 'mongoose';

const PAGES = 20;
const PAGE_SIZE = 50;
const SHORT_PAGE = 20;
const FAVOURITES = 5000;

/**
 * Returns groups of requests that are drawn at random, with the targets for the service's throughput against that of a
 * peer; `ids` is the number of items to request by getById.
 */
export async function readGroups(db, ids) {
  return [
    {
      title: 'getById/s, random ids',
      operation: 'getById',
      inputs: await randomIds(db, ids),
      against: { direct: { must: 1.6, aim: 3 }, minimal: { must: 3, aim: 4 } },
    },
    {
      title: `getAll/s, pages 1–${PAGES} of ${PAGE_SIZE}`,
      operation: 'getAll',
      inputs: pages({}),
      against: { direct: { must: 1.25, aim: 2 }, minimal: { must: 1.6, aim: 2.5 } },
    },
    {
      title: `getAll/s, the first page of ${PAGE_SIZE} for everyone`,
      operation: 'getAll',
      inputs: pages({}).slice(0, 1),
      against: { minimal: { must: 5, aim: 15 } },
    },
    {
      title: `getAll/s, category + status, ${SHORT_PAGE} per page`,
      operation: 'getAll',
      inputs: await fullFilters(db),
      against: { direct: { must: 1.5, aim: 2.5 } },
    },
    {
      title: `getAll/s, favourites of a user with ${FAVOURITES.toLocaleString('en')}, pages 1–${PAGES} of ${PAGE_SIZE}`,
      operation: 'getAll',
      inputs: pages({ userId: await insertFavourites(db) }),
      against: { direct: { must: 1, aim: 2 } },
    },
  ];
}

/** Returns the ids of random items, as inputs of getById. */
export async function randomIds(db, size) {
  const stages = [{ $sample: { size } }, { $project: { _id: 1 } }];
  const found = await db.collection('items').aggregate(stages, { allowDiskUse: true }).toArray();
  return found.map(({ _id }) => ({ id: _id.toHexString() }));
}

function pages(input) {
  return Array.from({ length: PAGES }, (_, index) => ({ ...input, page: index + 1, pageSize: PAGE_SIZE }));
}

/** Returns requests for every category and status that together fill a page. */
async function fullFilters(db) {
  const stages = [
    { $match: { isVisible: true } },
    { $group: { _id: { categoryId: '$categoryId', status: '$status' }, count: { $sum: 1 } } },
    { $match: { count: { $gte: SHORT_PAGE } } },
  ];
  const found = await db.collection('items').aggregate(stages).toArray();
  return found.map(({ _id: { categoryId, status } }) => ({
    categoryId: String(categoryId),
    status,
    pageSize: SHORT_PAGE,
  }));
}

/** Stores favourites from all over the catalogue, and returns their user. */
async function insertFavourites(db) {
  const userId = 'reader';
  // A sample may contain an item twice.
  const ids = new Set((await randomIds(db, FAVOURITES)).map(({ id }) => id));
  const favourites = [...ids].map((id, n) => ({
    userId,
    itemId: new mongoose.mongo.ObjectId(id),
    createdAt: new Date(n * 1000),
  }));
  await db.collection('favourites').deleteMany({ userId });
  await db.collection('favourites').insertMany(favourites);
  return userId;
}
