import { strictEqual } from 'node:assert';
import { randomIds } from './prepared.mjs';
import { SEARCH_PAGE } from './scale-words.mjs';
import { call, send } from './subjects.mjs';

/** Requests of one kind have slightly different page sizes, because the API coalesces concurrent identical reads. */
const VARIANTS = 8;
const DEEP_PAGE = 1000;

/**
 * Requests of one kind, drawn at random.
 * @typedef {object} Query
 * @property {string} figure
 * @property {'getById' | 'getAll'} operation
 * @property {object[]} inputs
 * @property {string[]} [firstIds] ids of the first items of the responses
 * @property {boolean} [isEmpty] whether the correct response is an empty list instead of a full page
 */

/**
 * Returns the queries for both databases, and how many times as long the large one may take.
 * @param {import('mongoose').mongo.Db} db
 * @param {{pageSize: number, ids: number}} size
 * @param {Record<string, string[]>} words
 * @returns {Promise<(Query & {must: number, aim: number})[]>}
 */
export async function growthQueries(db, { pageSize, ids }, words) {
  const targets = { must: 2, aim: 1.2 };
  const list = (figure, inputs, more) => ({ figure, operation: 'getAll', inputs, ...targets, ...more });
  const search = (kind, more) => ({ ...searchQuery(kind, words), ...targets, ...more });
  return [
    list(`first page of ${pageSize}`, varied({}, pageSize)),
    list(`category + status, ${SEARCH_PAGE} per page`, await categories(db)),
    { figure: 'getById, random ids', operation: 'getById', inputs: await randomIds(db, ids), ...targets },
    ...['common', 'rare', 'prefix', 'two common', 'common and rarer'].map((kind) => search(kind)),
    search('disjoint', { must: 4, isEmpty: true }),
    search('disjoint, less rare', { must: undefined, aim: undefined, isEmpty: true }),
  ];
}

/**
 * Returns searches for words of one kind.
 * @param {string} kind
 * @param {Record<string, string[]>} words
 * @returns {Query}
 */
export function searchQuery(kind, words) {
  const inputs = varied({ search: words[kind].join(' ') }, SEARCH_PAGE);
  return { figure: `search, ${kind}`, operation: 'getAll', inputs };
}

/**
 * Returns the queries that are compared within one database.
 * @param {number} port of its service
 * @param {number} pageSize
 * @param {Record<string, string[]>} words
 * @returns {Promise<Record<'first' | 'common' | 'deep' | 'after', Query>>}
 */
export async function largeQueries(port, pageSize, { common }) {
  const list = (figure, inputs) => ({ figure, operation: 'getAll', inputs });
  const pages = varied({}, pageSize);
  return {
    first: list('the first page', pages),
    common: list('search, common', varied({ search: common.join(' ') }, pageSize)),
    deep: list(`page ${DEEP_PAGE}`, varied({ page: DEEP_PAGE }, pageSize)),
    after: { ...list(`page ${DEEP_PAGE} of a walk by \`Next-After\``, []), ...(await walkTo(port, DEEP_PAGE, pages)) },
  };
}

/** Checks two of the responses before anything is measured: lists have to be full pages or, with `isEmpty`, empty. */
export async function checkResponses({ port }, { operation, inputs, isEmpty = false, firstIds }) {
  for (const index of [0, inputs.length - 1]) {
    const input = inputs[index];
    const found = await call(port, operation, input);
    if (operation === 'getById') strictEqual(found.id, input.id);
    else strictEqual(found.length, isEmpty ? 0 : input.pageSize, `${found.length} items for ${JSON.stringify(input)}`);
    if (firstIds) strictEqual(found[0].id, firstIds[index], `another item follows ${input.after}`);
  }
}

function varied(input, pageSize) {
  return Array.from({ length: VARIANTS }, (_, index) => ({ ...input, pageSize: pageSize - index }));
}

async function categories(db) {
  const numbers = await db.collection('categories').distinct('_id');
  return numbers.map((number) => ({ categoryId: String(number), status: 'available', pageSize: SEARCH_PAGE }));
}

/** Returns the requests for this page of a walk, from the page before it, and the first ids of their responses. */
async function walkTo(port, page, requests) {
  const inputs = [];
  const firstIds = [];
  for (const request of requests) {
    const before = await send(port, 'getAll', { ...request, page: page - 1 });
    const [first] = await call(port, 'getAll', { ...request, page });
    inputs.push({ ...request, after: before.headers.get('Next-After') });
    firstIds.push(first.id);
  }
  return { inputs, firstIds };
}
