import { randomIds } from './prepared.mjs';

const PAGES = 20;
const PAGE_SIZE = 50;
const SHORT_PAGE = 20;
const FAVOURITES = 5000;

/**
 * Requests drawn at random, and the targets for the service's throughput against that of a peer.
 * @typedef {object} ReadGroup
 * @property {string} figure
 * @property {'getById' | 'getAll'} operation
 * @property {object[]} inputs
 * @property {Partial<Record<'direct' | 'minimal', {must: number, aim: number}>>} against
 */

/**
 * @param {import('mongoose').mongo.Db} db
 * @param {number} ids number of items to request by getById
 * @returns {Promise<ReadGroup[]>}
 */
export async function readGroups(db, ids) {
  return [
    {
      figure: 'getById/s, random ids',
      operation: 'getById',
      inputs: await randomIds(db, ids),
      against: { direct: { must: 1.6, aim: 3 }, minimal: { must: 3, aim: 4 } },
    },
    {
      figure: `getAll/s, pages 1–${PAGES} of ${PAGE_SIZE}`,
      operation: 'getAll',
      inputs: Array.from({ length: PAGES }, (_, index) => ({ page: index + 1, pageSize: PAGE_SIZE })),
      against: { direct: { must: 1.25, aim: 2 }, minimal: { must: 1.6, aim: 2.5 } },
    },
    {
      figure: `getAll/s, the first page of ${PAGE_SIZE} for everyone`,
      operation: 'getAll',
      inputs: [{ page: 1, pageSize: PAGE_SIZE }],
      against: { minimal: { must: 5, aim: 15 } },
    },
    {
      figure: `getAll/s, category + status, ${SHORT_PAGE} per page`,
      operation: 'getAll',
      inputs: await fullFilters(db),
      against: { direct: { must: 1.5, aim: 2.5 } },
    },
    {
      figure: `getAll/s, favourites of a user with ${FAVOURITES.toLocaleString('en')}, pages 1–${PAGES} of ${PAGE_SIZE}`,
      operation: 'getAll',
      inputs: await favouritePages(db),
      against: { direct: { must: 1, aim: 2 } },
    },
  ];
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

/** Stores favourites from all over the catalogue, and returns requests for their pages. */
async function favouritePages(db) {
  const userId = 'reader';
  const items = await db
    .collection('items')
    .aggregate([{ $sample: { size: FAVOURITES } }, { $project: { _id: 1 } }])
    .toArray();
  const ids = new Map(items.map(({ _id }) => [_id.toHexString(), _id]));
  const favourites = [...ids.values()].map((itemId, n) => ({ userId, itemId, createdAt: new Date(n * 1000) }));
  await db.collection('favourites').deleteMany({ userId });
  await db.collection('favourites').insertMany(favourites);
  return Array.from({ length: PAGES }, (_, index) => ({ userId, page: index + 1, pageSize: PAGE_SIZE }));
}
