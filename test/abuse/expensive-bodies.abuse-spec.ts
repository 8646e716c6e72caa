import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { validInput } from '../support/items.js';
import { median } from '../support/median.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';

/** A body may block a process for 25 ms. Ten times that leaves room for slow or busy machines. */
const MAX_BLOCKED_MS = 250;
const RUNS = 5;
/** The limits of a body and of an item, less room for the other fields. */
const [LARGEST_BODY, LARGEST_ITEM] = [1_048_576 - 1000, 65_536 - 1000];

/** Returns `unit`, repeated as often as `bytes` allow, between `open` and `close`. */
const filled = (open: string, unit: string, close: string, bytes: number): string =>
  `${open}${unit.repeat(Math.floor((bytes - open.length) / Buffer.byteLength(unit))).replace(/,$/, '')}${close}`;
const keys = (bytes: number): string =>
  Array.from({ length: Math.floor(bytes / 9) }, (_, index) => `"${index.toString(36).padStart(4, '0')}":1`).join(',');
const create = (field: string, json: string): string =>
  JSON.stringify(validInput({ [field]: '<here>' })).replace('"<here>"', () => json);
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

type Shape = [what: string, field: string, json: (bytes: number) => string];

const PHOTOS: Shape[] = [
  ['numbers', 'photos', (bytes) => filled('[[', '1,', ']]', bytes)],
  ['numbers of sixteen digits', 'photos', (bytes) => filled('[[', '1234567890123456,', ']]', bytes)],
  ['numbers that take long to print', 'photos', (bytes) => filled('[[', '1e23,', ']]', bytes)],
  ['texts', 'photos', (bytes) => filled('[[', '"",', ']]', bytes)],
  ['objects', 'photos', (bytes) => filled('[[', '{},', ']]', bytes)],
  ['nested arrays', 'photos', (bytes) => filled('[[', `${deep(20)},`, ']]', bytes)],
  ['members', 'photos', (bytes) => `[{${keys(bytes)}}]`],
];
const TEXTS: Shape[] = [
  ['escapes, and a number of sixteen digits', 'name', (bytes) => filled('"', '\\n', '1234567890123456"', bytes)],
  ['Chinese', 'description', (bytes) => filled('"', '山', '"', bytes)],
  ['Thai', 'description', (bytes) => filled('"', 'ก', '"', bytes)],
  ['letters that unfold into eighteen', 'description', (bytes) => filled('"', '\ufdfa', '"', bytes)],
  ['combining marks', 'description', (bytes) => filled('"a', '\u0301\u0323', '"', bytes)],
];

type Body = [what: string, operation: string, body: string, statuses: number[]];

const ALLOWED: Body[] = [...PHOTOS, ...TEXTS].map(([what, field, json]) => [
  `${what} at ${field}`,
  'create',
  create(field, json(LARGEST_ITEM)),
  [200, 413],
]);
const TOO_LARGE: Body[] = [...PHOTOS, ...TEXTS].map(([what, field, json]) => [
  `${what} at ${field}`,
  'create',
  create(field, json(LARGEST_BODY)),
  [413],
]);
const REFUSED_OR_IGNORED: Body[] = [
  ['a hundred thousand images', 'create', create('images', filled('[', '"",', ']', 300_000)), [400]],
  ['half a million photos', 'create', create('photos', filled('[', '1,', ']', LARGEST_BODY)), [413]],
  ['numbers that are too large', 'create', create('photos', filled('[[', '1e400,', ']]', LARGEST_BODY)), [413]],
  ['unknown members', 'create', create('x', `0,${keys(LARGEST_BODY)}`), [413]],
  ['unknown members', 'getAll', `{${keys(LARGEST_BODY)}}`, [413]],
  ['unknown members', 'getById', `{"id":"x",${keys(LARGEST_BODY)}}`, [413]],
  ['as many unknown members as may be', 'getAll', `{${keys(24_900 * 9)}}`, [200]],
  ['half a million levels', 'getAll', `{"x":${deep(LARGEST_BODY / 2)}}`, [413]],
  ['brackets that do not close', 'getAll', '['.repeat(LARGEST_BODY), [413]],
  ['meta', 'getAll', `{"json":{},"meta":${filled('[', '[1,"x"],', ']', LARGEST_BODY)}}`, [413]],
  ['as much meta as may be', 'getAll', `{"json":{},"meta":${filled('[', '[1,"x"],', ']', 8 * 24_900)}}`, [200]],
  ['an escaped search', 'getAll', `{"search":${filled('"', '\\u0041', '"', LARGEST_BODY)}}`, [200]],
];

describe('a body that is expensive to read', () => {
  let database: Database;
  let processes: ServiceProcess[];
  let client: ApiClient;

  beforeAll(async () => {
    const env = freshEnvironment({ LOG_LEVEL: 'warn' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    processes = (['api', 'worker'] as const).map((name) => ServiceProcess.start(name, { ...env, LOG_LEVEL: 'info' }));
    await Promise.all(processes.map((process) => process.waitForStatus('ready')));
    client = (await processes[0]?.client()) as ApiClient;
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
    await endProcesses();
  });

  /** Returns the longest event loop delay of each process since the last call, in ms. */
  const longestDelays = (): Promise<number[]> =>
    Promise.all(
      processes.map(async (process) => {
        const metrics = await process.metrics();
        return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000;
      }),
    );

  describe.each([
    ['of an item as large as may be', ALLOWED],
    ['of an item that is too large', TOO_LARGE],
    ['that is refused, or largely ignored', REFUSED_OR_IGNORED],
  ])('%s', (_which, bodies) => {
    it.each(bodies)(
      'a body that is expensive to read does not block other requests: %s of %s',
      async (_what, operation, body, expected) => {
        const delays: number[] = [];
        for (let run = 0; run < RUNS; run++) {
          await longestDelays();
          const headers = { 'Content-Type': 'application/json' };
          const { status } = await client.post(`/api/orpc/items/${operation}`, body, headers);
          expect(expected).toContain(status);
          delays.push(Math.max(...(await longestDelays())));
        }
        expect(median(delays)).toBeLessThan(MAX_BLOCKED_MS);
      },
    );
  });
});
