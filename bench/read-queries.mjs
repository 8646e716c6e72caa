import mongoose from 'mongoose';
import { number } from './figures.mjs';

const PAGES = 20;
const PAGE_SIZE = 50;
const SHORT_PAGE = 20;
const FAVOURITES = 5000;

/**
 * Returns groups of requests that are drawn at random by their title, with the "must" and "aim" for the service's throughput
 * against that of each peer. `ids` is the number of items to request by getById.
 */
export async function readQueries(db, ids) {
  const all = pages({});
  const favourites = pages({ userId: await insertFavourites(db) });
  return {
    'getById/s, random ids': {
      operation: 'getById',
      inputs: await randomIds(db, ids),
      against: { direct: [1.6, 3], minimal: [3, 4] },
    },
    [`getAll/s, pages 1–${PAGES} of ${PAGE_SIZE}`]: list(all, { direct: [1.25, 2], minimal: [1.6, 2.5] }),
    [`getAll/s, the first page of ${PAGE_SIZE} for everyone`]: list(all.slice(0, 1), { minimal: [5, 15] }),
    [`getAll/s, category + status, ${SHORT_PAGE} per page`]: list(await fullFilters(db), { direct: [1.5, 2.5] }),
    [`getAll/s, favourites of a user with ${number(FAVOURITES)}, pages 1–${PAGES} of ${PAGE_SIZE}`]: list(favourites, {
      direct: [1, 2],
    }),
  };
}

function list(inputs, against) {
  return { operation: 'getAll', inputs, against };
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
