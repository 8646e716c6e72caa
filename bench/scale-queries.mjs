import { deepStrictEqual, strictEqual } from 'node:assert';
import { randomIds } from './prepared.mjs';
import { SEARCH_PAGE } from './scale-words.mjs';
import { call } from './subjects.mjs';

/** Requests of one kind differ a little in their page size: the API reads once for equal ones of the same moment. */
const VARIANTS = 8;
const DEEP_PAGE = 1000;

/**
 * Requests of one kind, drawn at random.
 * @typedef {object} Query
 * @property {string} figure
 * @property {'getById' | 'getAll'} operation
 * @property {object[]} inputs
 * @property {object[]} [like] inputs that have the same answers
 * @property {boolean} [isEmpty] whether the right answer is an empty list, and not a full page
 */

/**
 * What is asked of both databases, and how many times as long the large one may take.
 * @param {import('mongoose').mongo.Db} db
 * @param {{pageSize: number, ids: number}} size
 * @param {Record<string, string[]>} words
 * @returns {Promise<(Query & {must: number, aim: number})[]>}
 */
export async function growthQueries(db, { pageSize, ids }, words) {
  const demands = { must: 2, aim: 1.2 };
  const list = (figure, inputs, more) => ({ figure, operation: 'getAll', inputs, ...demands, ...more });
  const search = (kind, more) => list(`search, ${kind}`, varied({ search: words[kind].join(' ') }, SEARCH_PAGE), more);
  return [
    list(`first page of ${pageSize}`, varied({}, pageSize)),
    list(`category + status, ${SEARCH_PAGE} a page`, await categories(db)),
    { figure: 'getById, random ids', operation: 'getById', inputs: await randomIds(db, ids), ...demands },
    ...['common', 'rare', 'prefix', 'two common', 'common and rarer'].map((kind) => search(kind)),
    search('disjoint', { must: 4, isEmpty: true }),
  ];
}

/**
 * What is compared within one database.
 * @param {number} port
 * @param {number} pageSize
 * @param {Record<string, string[]>} words
 * @returns {Promise<Record<'first' | 'common' | 'deep' | 'after', Query>>}
 */
export async function largeQueries(port, pageSize, { common }) {
  const pages = varied({}, pageSize);
  const list = (figure, inputs, more) => ({ figure, operation: 'getAll', inputs, ...more });
  const deep = varied({ page: DEEP_PAGE }, pageSize);
  return {
    first: list('the first page', pages),
    common: list('search, common', varied({ search: common.join(' ') }, pageSize)),
    deep: list(`page ${DEEP_PAGE}`, deep),
    after: list(`page ${DEEP_PAGE} of a walk by \`after\``, await behind(port, DEEP_PAGE - 1, pages), { like: deep }),
  };
}

/** Looks at two of the answers before anything is measured: each a full page or, where there is nothing, none. */
export async function requireAnswers({ port }, { operation, inputs, isEmpty = false, like }) {
  for (const index of [0, inputs.length - 1]) {
    const input = inputs[index];
    const answer = await call(port, operation, input);
    if (operation === 'getById') strictEqual(answer.id, input.id);
    else
      strictEqual(answer.length, isEmpty ? 0 : input.pageSize, `${answer.length} items for ${JSON.stringify(input)}`);
    if (like)
      deepStrictEqual(answer, await call(port, operation, like[index]), `not as ${JSON.stringify(like[index])}`);
  }
}

function varied(input, pageSize) {
  return Array.from({ length: VARIANTS }, (_, index) => ({ ...input, pageSize: pageSize - index }));
}

async function categories(db) {
  const numbers = await db.collection('categories').distinct('_id');
  return numbers.map((number) => ({ categoryId: String(number), status: 'available', pageSize: SEARCH_PAGE }));
}

/** The requests that a walk by `after` comes to after so many pages of so many items. */
async function behind(port, page, inputs) {
  const requests = [];
  for (const input of inputs) {
    const items = await call(port, 'getAll', { ...input, page });
    requests.push({ ...input, after: items.at(-1).id });
  }
  return requests;
}
