import { gzipSync } from 'node:zlib';
import { validInput } from './items.js';

/** A hostile request and the status it must get. */
export interface HostileRequest {
  what: string;
  operation: 'getAll' | 'getById' | 'create';
  body: string | Buffer;
  status: number;
  headers?: Record<string, string>;
}

const KILOBYTE = 1000;
/** Just below the default body limit of 1 MiB. */
const LARGE = 1000 * KILOBYTE;

const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const deepObject = (levels: number): string => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;
const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"${i.toString(36)}":0`).join(',');
const bomb = gzipSync(Buffer.alloc(100 * 1000 * KILOBYTE, ' '));

/** Returns a create with raw JSON as the value of a field. */
const create = (what: string, status: number, field: string, json: string): HostileRequest => ({
  what: `${what} at ${field} of create`,
  operation: 'create',
  body: JSON.stringify(validInput({ [field]: '<here>' })).replace('"<here>"', () => json),
  status,
});
const getAll = (what: string, status: number, body: string): HostileRequest => ({
  what,
  operation: 'getAll',
  body,
  status,
});
const getById = (what: string, status: number, id: string): HostileRequest => ({
  what: `${what} for an id`,
  operation: 'getById',
  body: `{"id":${id}}`,
  status,
});

const OPERATORS = ['{"$ne":null}', '{"$gt":""}', '{"$regex":".*"}', '{"$where":"sleep(9999)"}', '[{"$ne":null}]'];
const TEXT_FIELDS = ['search', 'categoryId', 'status', 'userId', 'after'];
const PATTERNS = ['.*', '^', '(a+)+$', '(?<x>a|aa)*b', '[', '\\', '$where', '*', '{1,99999}', '%', "' OR 1=1 --"];
const LONG_TEXTS: [what: string, text: string][] = [
  ['one word', 'a'.repeat(LARGE)],
  ['many words', 'ab '.repeat(LARGE / 3)],
  ['emoji', '🚲'.repeat(LARGE / 4)],
  ['combining marks', `e${'\u0301'.repeat(LARGE / 2 - 100)}`],
  ['combining marks out of order', `a${'\u0301\u0323'.repeat(LARGE / 4 - 100)}`],
  ['letters that unfold into eighteen', '\ufdfa'.repeat(LARGE / 3 - 100)],
  ['NULs', '\\u0000'.repeat(LARGE / 6)],
  ['what backtracks', `${'a'.repeat(LARGE - 100)}!`],
];

const operators: HostileRequest[] = OPERATORS.flatMap((operator) => [
  getById(operator, 400, operator),
  ...TEXT_FIELDS.map((field) => getAll(`${operator} at ${field}`, 400, `{"${field}":${operator}}`)),
  ...['name', 'categoryId', 'price', 'brandId', 'isFeatured'].map((field) => create(operator, 400, field, operator)),
  { what: `${operator} as the input`, operation: 'create', body: operator, status: 400 },
]);

const prototypes: HostileRequest[] = [
  getAll('__proto__', 200, '{"__proto__":{"page":0,"pageSize":0,"search":1}}'),
  getAll('constructor.prototype', 200, '{"constructor":{"prototype":{"page":0}},"prototype":{"page":0}}'),
  getAll('an envelope of prototypes', 200, '{"json":{"__proto__":{"page":0}},"meta":[[1,"__proto__","page"]]}'),
  {
    what: 'an inherited input',
    operation: 'create',
    body: `{"__proto__":${JSON.stringify(validInput())}}`,
    status: 400,
  },
];

const depths: HostileRequest[] = [
  getAll('10,000 arrays', 400, deep(10_000)),
  getAll('half a million arrays', 413, deep(500_000)),
  getAll('10,000 objects at a field', 400, `{"search":${deepObject(10_000)}}`),
  getAll('10,000 objects at no field', 200, `{"x":${deepObject(10_000)}}`),
  getAll('a deep envelope', 400, `{"json":${deep(10_000)}}`),
  getAll('deep meta', 200, `{"json":{},"meta":[[1,"x",${deep(10_000)}]]}`),
  getAll('brackets that do not close', 400, '['.repeat(25_000)),
  getAll('a million brackets that do not close', 413, '['.repeat(LARGE)),
  create('10,000 levels', 400, 'photos', deep(10_000)),
  create('10,000 levels', 400, 'images', deep(10_000)),
];

const counts: HostileRequest[] = [
  getAll('a million keys', 413, `{${keys(1_000_000)}}`),
  getAll('as many keys as fit', 413, `{${keys(100_000)}}`),
  getAll('as many keys as may be', 200, `{${keys(24_999)}}`),
  create('as many keys as fit', 413, 'photos', `[{${keys(80_000)}}]`),
  create('as many keys as may be', 200, 'photos', `[{${keys(24_900)}}]`),
  getAll('one key again and again', 200, `{${'"page":0,'.repeat(24_900)}"page":1}`),
  getAll('one key again and again, the last wrong', 400, `{${'"page":1,'.repeat(24_900)}"page":0}`),
  getAll('one key far too often', 413, `{${'"page":1,'.repeat(100_000)}"page":1}`),
  getAll('entries of meta', 200, `{"json":{},"meta":[${'[1,"x"],'.repeat(24_900)}[1,"x"]]}`),
  getAll('a hundred thousand entries of meta', 413, `{"json":{},"meta":[${'[1,"x"],'.repeat(100_000)}[1,"x"]]}`),
  create('half a million numbers', 413, 'photos', `[[${'1,'.repeat(500_000)}1]]`),
  create('a hundred thousand images', 400, 'images', `[${'"",'.repeat(100_000)}""]`),
];

const texts: HostileRequest[] = [
  ...['"\\ud800"', '"\\udc00\\ud800"'].flatMap((lone) => [
    getById(lone, 404, lone),
    ...['search', 'categoryId', 'userId', 'after'].map((f) => getAll(`${lone} at ${f}`, 400, `{"${f}":${lone}}`)),
    create(lone, 400, 'categoryId', lone),
  ]),
  getById('NUL', 404, '"\\u0000"'),
  ...['search', 'categoryId', 'userId'].map((field) => getAll(`NUL at ${field}`, 200, `{"${field}":"\\u0000"}`)),
  getAll('NUL at after', 400, '{"after":"\\u0000"}'),
  create('NUL', 400, 'categoryId', '"\\u0000"'),
  ...PATTERNS.map((text) => getAll(`${text} as a search`, 200, JSON.stringify({ search: text }))),
  ...PATTERNS.map((text) => getAll(`${text} as a category`, 200, JSON.stringify({ categoryId: text }))),
  ...PATTERNS.map((text) => getById(text, 404, JSON.stringify(text))),
  ...LONG_TEXTS.flatMap(([what, text]) => [
    getAll(`a search of ${what}, far too long`, 200, `{"search":"${text}"}`),
    getAll(`a category of ${what}, far too long`, 200, `{"categoryId":"${text}"}`),
    getAll(`a user of ${what}, far too long`, 200, `{"userId":"${text}"}`),
    getById(`${what}, far too long`, 404, `"${text}"`),
    create(`${what}, far too long,`, 200, 'name', `"xyz${text}"`),
  ]),
];

const numbers: HostileRequest[] = [
  ...['-0', '1e308', '-1e308', '1e400', '0.1', '9'.repeat(400), '9007199254740992'].map((number) =>
    getAll(`${number.slice(0, 20)} as a page`, 400, `{"page":${number}}`),
  ),
  ...['1e15', '9007199254740991', '1E2', '1.0'].flatMap((page) =>
    ['', ',"search":"bike"', ',"userId":"ann"', ',"categoryId":"7","pageSize":100'].map((more) =>
      getAll(`page ${page}${more}`, 200, `{"page":${page}${more}}`),
    ),
  ),
  create('-0', 200, 'price', '-0'),
  create('1e308', 200, 'brandId', '1e308'),
  create('1e308', 400, 'price', '1e308'),
  create('400 digits', 400, 'brandId', '9'.repeat(400)),
  create('a number of a megabyte', 400, 'brandId', '9'.repeat(LARGE)),
  create('a fraction of a megabyte', 200, 'brandId', `0.${'9'.repeat(LARGE)}`),
];

const codings: HostileRequest[] = ['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip'].map((coding) => ({
  what: `a bomb, said to be ${coding}`,
  operation: 'create',
  body: bomb,
  headers: { 'Content-Encoding': coding },
  status: 415,
}));
codings.push({ what: 'a bomb, not said to be one', operation: 'create', body: bomb, status: 400 });

/** Requests of every kind that is known to break services like this one. */
export const HOSTILE_REQUESTS: HostileRequest[] = [
  operators,
  prototypes,
  depths,
  counts,
  texts,
  numbers,
  codings,
].flat();
