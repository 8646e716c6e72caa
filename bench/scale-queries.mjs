import { strictEqual } from 'node:assert';
import * as figures from './figures.mjs';
import { randomIds } from './read-queries.mjs';
import { call, send } from './subjects.mjs';

export const CONNECTIONS = 8;
/** Requests of one kind have slightly different page sizes, because the API coalesces concurrent identical reads. */
const VARIANTS = 8;
/** Items per page of a search. All searches fill a page in both databases, except those for disjoint words. */
const SEARCH_PAGE = 20;
const DEEP_PAGE = 1000;
const GROWTH = { must: 2, aim: 1.2 };
export const P50 = figures.milliseconds('p50', ({ reads }) => reads.ms.p50);
const { ratio, P99_OF_STEADY_READS } = figures;

/** Returns a group for each query: how many times as long it takes in the large database as in the small one. */
export async function growthGroups({ size: { ids, pageSize, words, ...size } }, { small, large }) {
  const search = (kind) => ({ title: `search, ${kind}`, inputs: () => searches(words[kind]) });
  const queries = [
    { title: `first page of ${pageSize}`, inputs: () => varied({}, pageSize) },
    { title: `category + status, ${SEARCH_PAGE} per page`, inputs: availableByCategory },
    { title: 'getById, random ids', operation: 'getById', inputs: (db) => randomIds(db, ids) },
    ...['common', 'rare', 'prefix', 'two common', 'common and rarer'].map(search),
    { ...search('disjoint'), targets: { must: 4, aim: 1.2 }, isEmpty: true },
    { ...search('disjoint, less rare'), targets: {}, isEmpty: true },
  ];
  const groups = {};
  for (const { title, inputs, targets: { must, aim } = GROWTH, ...query } of queries) {
    const load = async ({ port, db }) => checkedReads(port, size, { ...query, inputs: await inputs(db) });
    groups[title] = {
      variants: { large: await load(large), small: await load(small) },
      figures: [ratio(P50, ` of ${title}, ${large.title} against ${small.title}`, ['large', 'small'], must, aim)],
    };
  }
  return groups;
}

/**
 * Returns groups for the large database: how many times as long queries that look expensive take as the first page, and
 * how long getById takes alongside searches that examine many items and find none.
 */
export async function largeGroups({ size: { pageSize, words, ...size } }, { port, title }) {
  const pages = varied({}, pageSize);
  const queries = {
    first: { inputs: pages },
    common: { inputs: varied({ search: words.common }, pageSize) },
    deep: { inputs: varied({ page: DEEP_PAGE }, pageSize) },
    after: await walkTo(port, DEEP_PAGE, pages),
  };
  const variants = {};
  for (const [name, query] of Object.entries(queries))
    variants[name] = { subject: 'large', ...(await checkedReads(port, size, query)) };
  const against = (name, query, ...targets) =>
    ratio(P50, ` of ${query} against the first page, ${pageSize} per page, ${title}`, [name, 'first'], ...targets);
  const kind = 'disjoint, less rare';
  const beside = ` alongside ${CONNECTIONS} searches, ${kind}, against idle, ${title}`;
  const empty = await checkedReads(port, size, { inputs: searches(words[kind]), isEmpty: true });
  return {
    'within the large one': {
      variants,
      figures: [
        against('common', 'search, common', 2, 1.2),
        against('deep', `page ${DEEP_PAGE}`, 5, 2),
        against('after', `page ${DEEP_PAGE} of a walk by \`Next-After\``, 1.3, 1.05),
      ],
    },
    'getById beside searches': {
      variants: {
        beside: { subject: 'large', steadyReads: { rate: 100 }, ...empty },
        idle: { subject: 'large', steadyReads: { rate: 100, ms: size.ms } },
      },
      figures: [ratio(P99_OF_STEADY_READS, beside, ['beside', 'idle'], 5, 2)],
    },
  };
}

/**
 * Returns the load of a query. Checks two of its responses first: lists have to be full pages or, with `isEmpty`, empty,
 * and to begin with the `firstIds`.
 */
async function checkedReads(port, { warmUpMs, ms }, { operation = 'getAll', inputs, isEmpty, firstIds }) {
  for (const index of [0, inputs.length - 1]) {
    const input = inputs[index];
    const found = await call(port, operation, input);
    if (operation === 'getById') strictEqual(found.id, input.id);
    else strictEqual(found.length, isEmpty ? 0 : input.pageSize, `${found.length} items for ${JSON.stringify(input)}`);
    if (firstIds) strictEqual(found[0].id, firstIds[index], `another item follows ${input.after}`);
  }
  return { reads: { operation, inputs, connections: CONNECTIONS, warmUpMs, ms } };
}

function varied(input, pageSize) {
  return Array.from({ length: VARIANTS }, (_, index) => ({ ...input, pageSize: pageSize - index }));
}

function searches(search) {
  return varied({ search }, SEARCH_PAGE);
}

async function availableByCategory(db) {
  const numbers = await db.collection('categories').distinct('_id');
  return numbers.map((number) => ({ categoryId: String(number), status: 'available', pageSize: SEARCH_PAGE }));
}

/**
 * Returns the requests for this page of a walk, and the first ids of their responses. All continue at the same place, as
 * the requests for the first page begin at the same place: items that are requested more often are read faster.
 */
async function walkTo(port, page, requests) {
  const [request] = requests;
  const before = await send(port, 'getAll', { ...request, page: page - 1 });
  const [first] = await call(port, 'getAll', { ...request, page });
  const after = before.headers.get('Next-After');
  return { inputs: requests.map((each) => ({ ...each, after })), firstIds: requests.map(() => first.id) };
}
