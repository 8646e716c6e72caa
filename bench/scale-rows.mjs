import { strictEqual } from 'node:assert';
import * as figures from './figures.mjs';
import { randomIds } from './read-groups.mjs';
import { SEARCH_PAGE } from './scale-words.mjs';
import { call, send } from './subjects.mjs';

const CONNECTIONS = 8;
/** Requests of one kind have slightly different page sizes, because the API coalesces concurrent identical reads. */
const VARIANTS = 8;
const DEEP_PAGE = 1000;
const P50 = figures.milliseconds('p50', ({ reads }) => reads.ms.p50);

/**
 * Measures how many times as long each query takes in the large database as in the small one.
 * @returns {Promise<{title: string, rows: object[], results: object}[]>}
 */
export async function measureGrowth(bench, subjects, words) {
  const { ids, pageSize } = bench.size;
  const { small, large } = subjects;
  const targets = { must: 2, aim: 1.2 };
  const search = (kind) => ({ title: `search, ${kind}`, inputs: () => searches(words[kind]), ...targets });
  const queries = [
    { title: `first page of ${pageSize}`, inputs: () => varied({}, pageSize), ...targets },
    { title: `category + status, ${SEARCH_PAGE} per page`, inputs: availableByCategory, ...targets },
    { title: 'getById, random ids', operation: 'getById', inputs: (db) => randomIds(db, ids), ...targets },
    ...['common', 'rare', 'prefix', 'two common', 'common and rarer'].map(search),
    { ...search('disjoint'), must: 4, isEmpty: true },
    { ...search('disjoint, less rare'), must: undefined, aim: undefined, isEmpty: true },
  ];
  const measured = [];
  for (const { title, inputs, operation = 'getAll', isEmpty, must, aim } of queries) {
    const figure = { ...P50, title: `p50 of ${title}, ${large.title} against ${small.title}`, must, aim };
    const group = {
      variants: {
        large: await checkedReads(bench, large, { operation, inputs: await inputs(large.db), isEmpty }),
        small: await checkedReads(bench, small, { operation, inputs: await inputs(small.db), isEmpty }),
      },
      figures: [{ ...figure, variant: 'large', against: 'small' }],
    };
    measured.push({ title, ...(await figures.measureGroup(bench, subjects, title, group)) });
  }
  return measured;
}

/** Measures how many times as long queries that look expensive take as the first page, in the large database. */
export async function largeRows(bench, subjects, words) {
  const { large } = subjects;
  const { pageSize } = bench.size;
  const pages = varied({}, pageSize);
  const walk = await bench.launcher.steps.run('look for page 1,000', () => walkTo(large.port, DEEP_PAGE, pages));
  const queries = {
    first: { inputs: pages },
    common: { inputs: varied({ search: words.common.join(' ') }, pageSize) },
    deep: { inputs: varied({ page: DEEP_PAGE }, pageSize) },
    after: walk,
  };
  const variants = {};
  for (const [name, query] of Object.entries(queries)) {
    const load = await checkedReads(bench, large, { operation: 'getAll', ...query });
    variants[name] = { subject: 'large', ...load };
  }
  const ratio = (variant, title, must, aim) => {
    const full = `p50 of ${title} against the first page, ${pageSize} per page, ${large.title}`;
    return { ...P50, title: full, variant, against: 'first', must, aim };
  };
  const { rows } = await figures.measureGroup(bench, subjects, 'within the large one', {
    variants,
    figures: [
      ratio('common', 'search, common', 2, 1.2),
      ratio('deep', `page ${DEEP_PAGE}`, 5, 2),
      ratio('after', `page ${DEEP_PAGE} of a walk by \`Next-After\``, 1.3, 1.05),
    ],
  });
  return rows;
}

/** Measures how long getById takes alongside searches that examine many items and find none. */
export async function besideSearchesRows(bench, subjects, words) {
  const { warmUpMs, ms } = bench.size;
  const inputs = searches(words['disjoint, less rare']);
  const reads = { operation: 'getAll', inputs, connections: CONNECTIONS, warmUpMs, ms };
  const title = `p99 of getById alongside ${CONNECTIONS} searches, disjoint, less rare, against idle, ${subjects.large.title}`;
  const p99 = { ...figures.P99_OF_STEADY_READS, title };
  const { rows } = await figures.measureGroup(bench, subjects, 'getById beside searches', {
    variants: {
      beside: { subject: 'large', steadyReads: { rate: 100 }, reads },
      idle: { subject: 'large', steadyReads: { rate: 100, ms } },
    },
    figures: [{ ...p99, variant: 'beside', against: 'idle', must: 5, aim: 2 }],
  });
  return rows;
}

/** Measures creates, which add items. */
export async function createRows(bench, subjects) {
  const { warmUpMs, ms } = bench.size;
  const { small, large } = subjects;
  const creates = { connections: 64, warmUpMs, ms };
  const perSecond = figures.CREATES_PER_SECOND;
  const cpu = figures.MONGODB_CPU_PER_CREATE;
  const title = `${perSecond.title}, 64 connections, ${large.title} against ${small.title}`;
  const { rows } = await figures.measureGroup(bench, subjects, 'creates', {
    variants: { small: { creates }, large: { creates } },
    figures: [
      { ...perSecond, title, variant: 'large', against: 'small' },
      { ...cpu, title: `${cpu.title}, 64 connections, ${small.title}`, variant: 'small' },
      { ...cpu, title: `${cpu.title}, 64 connections, ${large.title}`, variant: 'large' },
    ],
  });
  return rows;
}

/**
 * Returns the load of a query. Checks two of its responses first: lists have to be full pages or, with `isEmpty`, empty,
 * and to begin with the `firstIds`.
 */
async function checkedReads({ size }, { port }, { operation, inputs, isEmpty, firstIds }) {
  for (const index of [0, inputs.length - 1]) {
    const input = inputs[index];
    const found = await call(port, operation, input);
    if (operation === 'getById') strictEqual(found.id, input.id);
    else strictEqual(found.length, isEmpty ? 0 : input.pageSize, `${found.length} items for ${JSON.stringify(input)}`);
    if (firstIds) strictEqual(found[0].id, firstIds[index], `another item follows ${input.after}`);
  }
  return { reads: { operation, inputs, connections: CONNECTIONS, warmUpMs: size.warmUpMs, ms: size.ms } };
}

function varied(input, pageSize) {
  return Array.from({ length: VARIANTS }, (_, index) => ({ ...input, pageSize: pageSize - index }));
}

function searches(words) {
  return varied({ search: words.join(' ') }, SEARCH_PAGE);
}

async function availableByCategory(db) {
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
