import { randomUUID } from 'node:crypto';
import { ItemSchema, ITEM_STATUSES, type ErrorBody, type Item } from '@app/contracts';
import { ItemRepository, mongoId, SchemaRepository, type Database, type ItemRecord } from '@app/database';
import { mongo } from 'mongoose';
import type { ApiClient } from './support/api-client.js';
import { runToExit, type CommandExit } from './support/command.js';
import { freshEnvironment, openDatabase } from './support/environment.js';
import { eventually } from './support/eventually.js';
import { insertBson, insertUnreadable, UNREADABLE } from './support/insert-bson.js';
import { addFavourites, record, store, uniqueWord, validInput } from './support/items.js';
import { endProcesses, ServiceProcess, type LogLine } from './support/processes.js';
import { startService, type Service } from './support/service.js';
import { walk } from './support/walk.js';

const { BSONRegExp, Decimal128, Double, Long, Timestamp } = mongo;

/** Values as MongoDB expressions: the Node.js driver cannot send a date that JavaScript cannot represent. */
type Values = Record<string, unknown>;
const MISSING = '$$REMOVE';
const BEYOND_JS = Long.fromString('9000000000000000');
const LATE_DATE = { $toDate: BEYOND_JS };

const AT = '2026-01-02T03:04:05.678Z';
const BOOST = { isBoosted: true, boostScore: 3 };

/** Values of other types than the service writes, and what it returns for them. */
const ACCEPTED: [what: string, stored: Values, returned: Partial<Item>][] = [
  ['an ISO string for updatedAt', { updatedAt: AT }, { updatedAt: AT }],
  [
    'an ISO string of another time zone for updatedAt',
    { updatedAt: '2026-01-02T05:04:05+02:00' },
    { updatedAt: '2026-01-02T03:04:05.000Z' },
  ],
  ['an Int64 of milliseconds for updatedAt', { updatedAt: Long.fromNumber(Date.parse(AT)) }, { updatedAt: AT }],
  ['an ISO string for createdAt', { createdAt: AT }, { createdAt: AT }],
  [
    'an ISO string for the end of a boost that is to come',
    { ...BOOST, boostExpiresAt: '2999-01-01T00:00:00.000Z' },
    { isBoosted: true, boostExpiresAt: '2999-01-01T00:00:00.000Z' },
  ],
  [
    'an ISO string for the end of a boost that has lapsed',
    { ...BOOST, boostExpiresAt: '2020-01-01T00:00:00.000Z' },
    { isBoosted: false, boostExpiresAt: '2020-01-01T00:00:00.000Z' },
  ],
  ['a Decimal128 price', { price: Decimal128.fromString('12.50') }, { price: 12.5 }],
  ['a Decimal128 that reads as a number does', { price: Decimal128.fromString('19.99') }, { price: 19.99 }],
  ['a Decimal128 with an exponent', { deliveryCost: Decimal128.fromString('1.2E+2') }, { deliveryCost: 120 }],
  ['a whole Decimal128 for a count', { stock: Decimal128.fromString('3.00') }, { stock: 3 }],
  [
    'Int64 counts',
    { stock: Long.fromNumber(5), viewCount: Long.fromString('9007199254740991'), favouriteCount: Long.fromNumber(0) },
    { stock: 5, viewCount: Number.MAX_SAFE_INTEGER, favouriteCount: 0 },
  ],
  ['Int64 numbers of what it refers to', { brandId: Long.fromNumber(7) }, { brandId: 7 }],
  ['a whole double for a count', { stock: new Double(5) }, { stock: 5 }],
  [
    'a regular expression that JavaScript does not support among its photos',
    { photos: [new BSONRegExp('(?<a>.)(?<a>.)', 'x')] },
    { photos: [{ pattern: '(?<a>.)(?<a>.)', options: 'x' }] },
  ],
  [
    'nothing where null is allowed',
    { condition: MISSING, brandId: MISSING, conditionId: MISSING, discount: MISSING, boostExpiresAt: MISSING },
    { condition: null, brandId: null, conditionId: null, discount: null, boostExpiresAt: null },
  ],
];

const TIMESTAMP = new Timestamp({ t: 5, i: 3 });

/** Values that make a document malformed, and the field in which they do. */
const MALFORMED: [what: string, stored: Values, field: string][] = [
  ['no name', { name: MISSING }, 'name'],
  ['null for a name', { name: null }, 'name'],
  ['null for a price', { price: null }, 'price'],
  ['a number for a string', { description: 7 }, 'description'],
  ['a number for a string that may be null', { discount: 7 }, 'discount'],
  ['a string for a price', { price: '12.50' }, 'price'],
  ['a string for a count', { stock: '5' }, 'stock'],
  ['a string for a category', { categoryId: '7' }, 'categoryId'],
  ['a string for the number of a brand', { brandId: '7' }, 'brandId'],
  ['a string for a boolean', { isFeatured: 'yes' }, 'isFeatured'],
  ['a number for a boolean', { freeShipping: 1 }, 'freeShipping'],
  ['a number for whether it is boosted', { isBoosted: 1 }, 'isBoosted'],
  ['a part of a piece in stock', { stock: 5.5 }, 'stock'],
  ['a part of a piece in stock, in decimal', { stock: Decimal128.fromString('5.5') }, 'stock'],
  ['no number for a price', { price: NaN }, 'price'],
  ['an infinite price', { price: Infinity }, 'price'],
  ['no number for a price, in decimal', { price: Decimal128.fromString('NaN') }, 'price'],
  ['a price that is no exact number', { price: Decimal128.fromString('0.1234567890123456789012345') }, 'price'],
  ['a price with more digits than a number', { price: Decimal128.fromString('9007199254740993') }, 'price'],
  ['a count beyond those that are exact', { viewCount: Long.fromString('9007199254740993') }, 'viewCount'],
  ['a count beyond those that are exact, as a double', { viewCount: 2 ** 60 }, 'viewCount'],
  ['a publicId of 0', { publicId: 0 }, 'publicId'],
  ['a score that is a string', { boostScore: '9' }, 'boostScore'],
  ['a date beyond those of JavaScript', { updatedAt: LATE_DATE }, 'updatedAt'],
  ['a time beyond those of JavaScript', { updatedAt: BEYOND_JS }, 'updatedAt'],
  ['a date after the year 9999', { updatedAt: new Date(Date.UTC(10_000, 0)) }, 'updatedAt'],
  ['a timestamp for a date', { updatedAt: TIMESTAMP }, 'updatedAt'],
  ['a timestamp for a price', { price: TIMESTAMP }, 'price'],
  ['a timestamp for its age', { createdAt: TIMESTAMP }, 'createdAt'],
  ['a time of more digits than nanoseconds', { createdAt: `2026-01-01T00:00:00.${'1'.repeat(20)}Z` }, 'createdAt'],
  ['a string that is no date', { updatedAt: 'yesterday' }, 'updatedAt'],
  ['a boolean for a date', { updatedAt: true }, 'updatedAt'],
  ['null for a date', { updatedAt: null }, 'updatedAt'],
  ['a late date for its age', { createdAt: LATE_DATE }, 'createdAt'],
  ['a late date for the end of its boost', { ...BOOST, boostExpiresAt: LATE_DATE }, 'boostExpiresAt'],
  ['a status outside the six', { status: 'lost' }, 'status'],
  ['a number among its ways of delivery', { deliveryOptions: ['post', 1] }, 'deliveryOptions'],
  ['a string for its images', { images: 'https://images.example.com/bike.jpg' }, 'images'],
  ['null for its photos', { photos: null }, 'photos'],
  ['a regular expression for its name', { name: new BSONRegExp('(?<a>.)(?<a>.)') }, 'name'],
];

/** Fields of a document that must be present and not null. */
const REQUIRED = Object.entries(ItemSchema.shape)
  .filter(([name, schema]) => !['id', 'url'].includes(name) && !schema.safeParse(null).success)
  .map(([name]) => name);

const idOf = ({ _id }: Pick<ItemRecord, '_id'>): string => _id.toHexString();

/** Changes stored items as another service would, and bypasses the validator. */
async function writeMalformed(database: Database, changes: [item: ItemRecord, values: Values][]): Promise<void> {
  const operations = changes.map(([{ _id }, values]) => ({
    updateOne: { filter: { _id }, update: [{ $set: values }] },
  }));
  await database.models.items.collection.bulkWrite(operations, { bypassDocumentValidation: true });
}

describe('documents written by other services', () => {
  let database: Database;
  let api: ServiceProcess;
  let client: ApiClient;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    env = freshEnvironment({ LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    api = ServiceProcess.start('api', env);
    client = await api.client();
    await api.waitForStatus('ready');
  });
  beforeEach(async () => {
    const { items, favourites } = database.models;
    await Promise.all([items.deleteMany({}), favourites.deleteMany({})]);
  });
  afterAll(async () => {
    await endProcesses();
    await database.connection.dropDatabase();
    await database.close();
  });

  /** Returns a list that must succeed and contain only valid items. */
  const itemsOf = async (input: object): Promise<Item[]> =>
    (await client.getAll(input)).map((item) => ItemSchema.parse(item));
  const idsOf = async (input: object): Promise<string[]> => (await itemsOf(input)).map(({ id }) => id);

  /** Stores three favourites of a user and changes the second. Returns it, the others, and every list of them. */
  const storeBetween = async (
    values: Values,
  ): Promise<{ changed: ItemRecord; others: string[]; lists: [string, object][] }> => {
    const name = `${uniqueWord()} ${uniqueWord()}`;
    const since = Date.parse('2026-01-01T00:00:00Z');
    const [first, changed, last] = await store(
      database,
      record({ name, createdAt: new Date(since + 2000) }),
      record({ name, createdAt: new Date(since + 1000) }),
      record({ name, createdAt: new Date(since) }),
    );
    await addFavourites(database, 'reader', [last, changed, first]);
    await writeMalformed(database, [[changed, values]]);
    const lists: [string, object][] = [
      ['everything', {}],
      ['all statuses', { status: 'all' }],
      ['a status', { status: 'available' }],
      ['a category', { categoryId: '7' }],
      ['a status of a category', { categoryId: '7', status: 'available' }],
      ['a search', { search: name.split(' ')[0] }],
      ['a search for several words', { search: name }],
      ['favourites', { userId: 'reader' }],
      ['favourites of a category', { userId: 'reader', categoryId: '7' }],
    ];
    return { changed, others: [idOf(first), idOf(last)], lists };
  };

  const linesOf = (id: string): LogLine[] =>
    api.log.filter((line) => line.msg === 'malformed item left out' && line['id'] === id);
  const expectLogged = async (item: ItemRecord, field: string): Promise<void> => {
    await eventually(() => {
      expect(linesOf(idOf(item))).not.toEqual([]);
    });
    expect(linesOf(idOf(item)).map((line) => String(line['field']).split('.')[0])).toEqual([field]);
  };

  it.each(ACCEPTED)(
    'documents written by other services are returned as valid items, with %s',
    async (_, values, expected) => {
      const { changed, others, lists } = await storeBetween(values);
      const { status, body } = await client.call<Item>('getById', { id: idOf(changed) });
      expect(status).toBe(200);
      expect(ItemSchema.parse(body)).toMatchObject(expected);
      for (const [list, input] of lists) {
        const items = await itemsOf(input);
        expect([list, items.map(({ id }) => id).sort()]).toEqual([list, [...others, idOf(changed)].sort()]);
        expect(items).toContainEqual(body);
      }
      expect(linesOf(idOf(changed))).toEqual([]);
    },
  );

  it('documents written by other services are returned with U+FFFD in place of bytes that are not UTF-8', async () => {
    const { changed, others, lists } = await storeBetween({ description: 'A ?? bike' });
    const { collection } = database.models.items;
    const bytes = (await collection.findOne({ _id: changed._id }, { raw: true })) as unknown as Buffer;
    await collection.deleteOne({ _id: changed._id });
    await insertBson(
      env['MONGODB_URI'] ?? '',
      collection.collectionName,
      bytes.fill(0xff, bytes.indexOf('??'), bytes.indexOf('??') + 2),
    );
    for (const [list, input] of lists) {
      // The position of the last item on a page is taken from its document.
      const { status, body } = await client.call<Item[]>('getAll', { ...input, pageSize: 2 });
      expect([list, status, body.map(({ id }) => id)]).toEqual([list, 200, [others[0], idOf(changed)]]);
      expect(body[1]?.description).toBe('A \ufffd\ufffd bike');
    }
    const { stdout } = await runToExit('check-data', env, []);
    expect(stdout).toBe('every item conforms\n');
  });

  it('documents written by other services are left out if the driver cannot read them', async () => {
    const { changed, others, lists } = await storeBetween({});
    const { collection } = database.models.items;
    await collection.deleteOne({ _id: changed._id });
    const unreadable = { ...changed, photos: [UNREADABLE] };
    await insertUnreadable(env['MONGODB_URI'] ?? '', collection.collectionName, unreadable);
    for (const [list, input] of lists) {
      expect([list, await idsOf(input)]).toEqual([list, others]);
      const walked = await walk(client, { ...input, pageSize: 1 });
      expect([list, walked.map(({ id }) => id)]).toEqual([list, others]);
    }
    expect((await client.call('getById', { id: idOf(changed) })).status).toBe(404);
    await expectLogged(changed, 'BSON');
    const { stdout } = await runToExit('check-data', env, []);
    expect(stdout).toContain(`${idOf(changed)}: left out of responses, BSON\n`);
  });

  it.each(MALFORMED)(
    'documents written by other services are left out if they are malformed: %s',
    async (_, values, field) => {
      const { changed, others, lists } = await storeBetween(values);
      for (const [list, input] of lists) expect([list, await idsOf(input)]).toEqual([list, others]);
      const { status, body } = await client.call<ErrorBody>('getById', { id: idOf(changed) });
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
      await expectLogged(changed, field);
    },
  );

  it.each([
    ['missing', MISSING],
    ['null', null],
  ])('documents written by other services are left out if any required field is %s', async (_, value) => {
    const others = await store(database, record(), record());
    const changed = await store(database, ...REQUIRED.map(() => record()));
    const fieldOf = new Map(changed.map((item, index) => [item, REQUIRED[index] ?? '']));
    await writeMalformed(
      database,
      [...fieldOf].map(([item, field]) => [item, { [field]: value }]),
    );
    const expected = others.map(idOf).sort();
    expect((await idsOf({ pageSize: 100 })).sort()).toEqual(expected);
    expect((await idsOf({ pageSize: 100, categoryId: '7', status: 'available' })).sort()).toEqual(expected);
    const all = [...changed, ...others];
    const found = await Promise.all(all.map((item) => client.call('getById', { id: idOf(item) })));
    expect(found.map(({ status }) => status)).toEqual([...changed.map(() => 404), ...others.map(() => 200)]);
    for (const [item, field] of fieldOf) await expectLogged(item, field);
  });

  it('documents written by other services are counted for Prometheus if they are malformed', async () => {
    const count = async (): Promise<number> => {
      const text = await api.metrics();
      const lines = text.matchAll(/^item_listing_malformed_items_total(?:\{[^}]*\})? (\S+)$/gm);
      return [...lines].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    const before = await count();
    await storeBetween({ stock: '5' });
    await itemsOf({});
    expect(await count()).toBeGreaterThan(before);
  });

  it('documents written by other services are reported if a repeated create finds one malformed', async () => {
    const worker = ServiceProcess.start('worker', env);
    await worker.waitForStatus('ready');
    const [input, headers] = [validInput(), { 'Idempotency-Key': randomUUID() }];
    const { body } = await client.call<Item>('create', input, headers);
    await worker.end('SIGTERM');
    const item = { ...record(), _id: mongoId(body.id) };
    await writeMalformed(database, [[item, { stock: '5' }]]);
    expect((await client.call('create', input, headers)).status).toBe(500);
    await expectLogged(item, 'stock');
  });

  it('getAll asks for fewer items before it has read all of a page that is too large', async () => {
    const description = 'x'.repeat(15_000_000);
    const items = Array.from({ length: 5 }, () => record({ description, searchTerms: [] }));
    for (const item of items) await store(database, item);
    await addFavourites(database, 'reader', items);
    for (const input of [{}, { userId: 'reader' }]) {
      // On a busy machine, the time of a read may run out first.
      await eventually(async () => {
        const { status, body } = await client.call<ErrorBody>('getAll', input);
        expect([status, JSON.stringify(body.data)]).toEqual([400, expect.stringContaining('fewer items')]);
      });
      await eventually(async () => {
        expect(await client.getAll({ ...input, pageSize: 2 })).toHaveLength(2);
      });
    }
    // One query reads them all, and may not fail for those that are small.
    const repository = new ItemRepository(database);
    const found = items.map((item) => repository.findById(idOf(item), performance.now() + 30_000));
    expect(await Promise.all(found)).not.toContain(undefined);
  });

  it('documents written by other services are left out if their JSON is too large to be sent', async () => {
    // A control character has six bytes in JSON.
    const description = '\u0001'.repeat(8_000_000);
    const [other] = await store(database, record());
    const [large] = await store(database, record({ description, searchTerms: [] }));
    await eventually(async () => {
      expect(await idsOf({ pageSize: 1 })).toEqual([]);
    });
    expect(await idsOf({})).toEqual([idOf(other)]);
    expect((await client.call('getById', { id: idOf(large) })).status).toBe(404);
    await expectLogged(large, 'JSON: it is too large');
  });

  describe('getAll', () => {
    /** Fields that decide the position in lists, missing or of a type that the service does not write. */
    const displaced: Values[] = [
      { createdAt: MISSING },
      { createdAt: 'soon' },
      { createdAt: LATE_DATE },
      { createdAt: null },
      { boostScore: '9' },
      { boostScore: NaN },
      { boostScore: MISSING },
      { boostScore: Decimal128.fromString('1.000000000000000000000000001') },
      { publicId: '5' },
      { publicId: Long.fromString('9007199254740993') },
      { publicId: MISSING },
      { publicId: Decimal128.fromString('0.1') },
      // MongoDB indexes only one array of a document.
      { createdAt: [new Date(0), new Date('2999-01-01')], searchTerms: MISSING },
      { boostScore: [0, 9], searchTerms: MISSING },
      { isBoosted: [false, true], searchTerms: MISSING },
      { isBoosted: 1 },
      { isBoosted: MISSING },
      { ...BOOST, createdAt: LATE_DATE },
      { ...BOOST, boostScore: Infinity },
    ];
    /** Stores 45 valid items among malformed ones: single ones, many in a row, before the first and after the last. */
    const storeMixed = async (): Promise<string[]> => {
      const moment = (n: number): Date => new Date(Date.UTC(2026, 0, 1) + n * 1000);
      const boosted = [7, 5, 3].map((boostScore, n) => record({ isBoosted: true, boostScore, createdAt: moment(n) }));
      const good = await store(
        database,
        ...boosted,
        ...Array.from({ length: 42 }, (_, n) => record({ createdAt: moment(10 + 2 * n) })),
      );
      const bad = await store(
        database,
        ...Array.from({ length: 25 }, (_, n) => record({ createdAt: moment(5 + 4 * n) })),
        ...Array.from({ length: 12 }, () => record({ createdAt: moment(41) })),
        ...displaced.map(() => record({ createdAt: moment(51) })),
      );
      await addFavourites(
        database,
        'reader',
        [...good, ...bad].sort((a, b) => Number(a.createdAt) - Number(b.createdAt)),
      );
      await writeMalformed(
        database,
        bad.map((item, n) => [item, displaced[n - 37] ?? { stock: '5' }]),
      );
      await writeMalformed(
        database,
        good.map((item) => [
          item,
          {
            publicId: Long.fromNumber(item.publicId),
            boostScore: Decimal128.fromString(String(item.boostScore)),
          },
        ]),
      );
      return good.map(idOf).sort();
    };

    const lists: [string, object][] = [
      ['everything', {}],
      ['a status', { status: 'available' }],
      ['a category', { categoryId: '7' }],
      ['a status of a category', { categoryId: '7', status: 'available' }],
      ['a search', { search: 'bike' }],
      ['a search for several words', { search: 'red bike' }],
      ['favourites', { userId: 'reader' }],
    ];

    it.each(lists)('getAll skips malformed items in a walk of %s and returns each valid one once', async (_, list) => {
      const good = await storeMixed();
      for (const pageSize of [1, 2, 5]) {
        const walked = (await walk(client, { ...list, pageSize })).map((item) => ItemSchema.parse(item));
        expect([pageSize, walked.map(({ id }) => id).sort()]).toEqual([pageSize, good]);
      }
    });

    it('getAll returns each item once in walks over decimals that JavaScript has no number for', async () => {
      const moment = new Date(1_790_000_000_000);
      const score = (text: string): Values => ({ ...BOOST, boostScore: Decimal128.fromString(text) });
      const time = (text: string): Values => ({ createdAt: Decimal128.fromString(text) });
      const values = ['0.1', '0.3', '1.1', '2.2'].flatMap((text) => [score(text), score(text)]);
      values.push(...['0.1', '0.3', '0.7'].map((fraction) => time(`1790000000000${fraction.slice(1)}`)));
      const items = await store(database, ...values.map(() => record({ createdAt: moment })));
      await writeMalformed(
        database,
        items.map((item, n) => [item, values[n] ?? {}]),
      );
      const listed = await idsOf({ pageSize: 20 });
      expect([...listed].sort()).toEqual(items.map(idOf).sort());
      for (const pageSize of [1, 2, 3]) {
        const walked = (await walk(client, { pageSize })).map((item) => ItemSchema.parse(item).id);
        expect([pageSize, walked]).toEqual([pageSize, listed]);
      }
      for (const [n, id] of listed.entries())
        expect(await idsOf({ after: id, pageSize: 20 })).toEqual(listed.slice(n + 1));
    });

    it('getAll walks past malformed items whose numbers are between those of two valid ones', async () => {
      const createdAt = new Date(1_790_000_000_000);
      const [last, first] = await store(database, record({ createdAt }), record({ createdAt }));
      const between = await store(database, record({ createdAt }), record({ createdAt }));
      const low = last.publicId;
      expect(first.publicId).toBe(low + 1);
      await writeMalformed(
        database,
        between.map((item, index) => [item, { publicId: low + 0.4 + index / 10 }]),
      );
      const walked = await walk(client, { pageSize: 1 });
      expect(walked.map((item) => ItemSchema.parse(item).id)).toEqual([first, last].map(idOf));
    });

    it.each(lists)(
      'getAll skips malformed items in the pages of %s and returns each valid one once',
      async (_, list) => {
        const good = await storeMixed();
        const stored = good.length + 37 + displaced.length;
        const pages = Array.from({ length: Math.ceil(stored / 5) }, (__, n) => ({ ...list, page: n + 1, pageSize: 5 }));
        const ids = await Promise.all(pages.map(idsOf));
        expect(ids.flat().sort()).toEqual(good);
      },
    );
  });
});

describe('setup', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  // Each test installs the validators itself.
  beforeEach(async () => {
    const { items, counters } = service.database.models;
    await new SchemaRepository(service.database).validateWrites(false);
    await Promise.all([items.deleteMany({}), counters.deleteMany({})]);
  });
  afterAll(() => service.stop());

  const setUp = async (more: NodeJS.ProcessEnv = {}): Promise<CommandExit> => {
    const ended = await runToExit('setup', { ...service.env, ...more }, []);
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    return ended;
  };
  const insert = (values: Values): Promise<unknown> => {
    const { items } = service.database.models;
    return items.collection.insertOne({ ...record(), ...values });
  };
  const update = async (values: Values): Promise<unknown> => {
    const [{ _id }] = await store(service.database, record());
    return service.database.models.items.collection.updateOne({ _id }, [{ $set: values }]);
  };
  const REFUSED = { code: 121 };

  it('setup makes MongoDB reject malformed items from any client', async () => {
    await setUp();
    await expect(insert({ stock: '5' })).rejects.toMatchObject(REFUSED);
    await expect(update({ price: '12.50' })).rejects.toMatchObject(REFUSED);
    const others: Values[] = [
      { name: MISSING },
      { name: null },
      { status: 'lost' },
      { isFeatured: 'yes' },
      { createdAt: 'yesterday' },
      { deliveryOptions: ['post', 1] },
      { images: 'https://images.example.com/bike.jpg' },
      { stock: Long.fromString('9007199254740993') },
      { viewCount: 2 ** 60 },
      { price: NaN },
      { price: -Infinity },
      { boostScore: Infinity },
      { updatedAt: LATE_DATE },
      { createdAt: new Date(-1e14) },
      { ...BOOST, boostExpiresAt: LATE_DATE },
    ];
    for (const values of others) await expect(update(values)).rejects.toMatchObject(REFUSED);
  });

  it('setup makes MongoDB reject documents that would make reading lists expensive for everyone', async () => {
    await setUp();
    for (const field of ['isBoosted', 'boostScore', 'createdAt', 'isVisible', 'status', 'categoryId', 'publicId']) {
      const array = { [field]: [0, 1] };
      await expect(insert({ searchVersion: 0, ...array })).rejects.toMatchObject(REFUSED);
      await expect(update(array)).rejects.toMatchObject(REFUSED);
    }
    const { favourites } = service.database.models;
    const favourite = { userId: 'reader', itemId: new mongo.ObjectId(), createdAt: new Date() };
    await favourites.collection.insertOne(favourite);
    for (const values of [{ createdAt: [new Date()] }, { itemId: 'item' }, { userId: 7 }])
      await expect(
        favourites.collection.insertOne({ ...favourite, _id: new mongo.ObjectId(), ...values }),
      ).rejects.toMatchObject(REFUSED);
  });

  it('setup lets MongoDB accept what other services may write', async () => {
    await setUp();
    const values: Values[] = [
      { price: Decimal128.fromString('12.50') },
      { stock: Long.fromNumber(5), viewCount: Long.fromNumber(7), favouriteCount: 2 },
      { ...BOOST, boostScore: 2.5, boostExpiresAt: new Date() },
      { ...BOOST, boostExpiresAt: MISSING },
      { discount: MISSING, sizeTitle: MISSING, brandTitle: MISSING, deliveryTimeEstimate: MISSING },
      { deliveryOptions: ['post'], deliveryCost: 4.9, freeShipping: true, deliveryTimeEstimate: 'two days' },
      { name: 'Blue kettle', searchVersion: MISSING, searchTerms: MISSING },
      { isVisible: false, updatedAt: new Date(), notesOfTheirs: { checked: true } },
      ...ITEM_STATUSES.map((status) => ({ status })),
    ];
    for (const value of values) await expect(update(value)).resolves.toMatchObject({ matchedCount: 1 });
  });

  it('setup lets the service write its own items', async () => {
    await setUp();
    const input = validInput({ brandId: 7, conditionId: 2, isFeatured: true, photos: [{}, 1, null, ['x'], { a: {} }] });
    const { id } = await service.api.create(input);
    const line = JSON.stringify(validInput({ boostScore: 2, isBoosted: true, status: 'sold' }));
    expect(await runToExit('import', service.env, ['-'], line)).toMatchObject({ code: 0 });
    await eventually(async () => {
      expect(await service.database.models.items.countDocuments({ searchVersion: { $in: [null, 0] } })).toBe(0);
    });
    expect((await service.api.getAll({ search: 'bike' })).map((item) => item.id)).toContain(id);
    const validators = await service.database.connection.db?.listCollections({ name: 'items' }).toArray();
    expect(validators).toMatchObject([{ options: { validator: { $jsonSchema: {} } } }]);
  });

  it('setup installs no validator with VALIDATE_WRITES=off, and removes an existing one', async () => {
    const isValidated = async (): Promise<boolean> =>
      insert({ stock: '5' }).then(
        () => false,
        () => true,
      );
    await setUp({ VALIDATE_WRITES: 'off' });
    expect(await isValidated()).toBe(false);
    await setUp();
    expect(await isValidated()).toBe(true);
    await setUp({ VALIDATE_WRITES: 'off' });
    expect(await isValidated()).toBe(false);
  });

  it('setup succeeds with malformed documents in the database, and derives the search terms of all others', async () => {
    const word = uniqueWord();
    const item = record({ name: word });
    const values: Values[] = [{ name: null }, { description: null }, { description: 7 }, { stock: '5' }];
    const malformed = values.map(() => record({ name: word }));
    const stored = await store(service.database, item, ...malformed);
    await writeMalformed(
      service.database,
      stored.map((one) => [one, { searchTerms: MISSING, searchVersion: MISSING, ...values[malformed.indexOf(one)] }]),
    );
    for (let times = 0; times < 2; times++) await setUp();
    expect((await service.api.getAll({ search: word })).map(({ id }) => id)).toEqual([idOf(item)]);
    // New writes are validated all the same.
    await expect(insert({ stock: '5' })).rejects.toMatchObject(REFUSED);
  });

  it('the publicId sequence ignores values that are no number, and numbers that would soon end it', async () => {
    const values = ['abc', '7', true, new Date(), [8], 2 ** 53 - 1, 1e300, Infinity, Decimal128.fromString('41.5')];
    const stored = await store(service.database, record({ publicId: 1 }), ...values.map(() => record()));
    await writeMalformed(
      service.database,
      stored.slice(1).map((item, index) => [item, { publicId: { $literal: values[index] }, searchTerms: MISSING }]),
    );
    expect((await setUp()).stdout).toContain('publicId sequence is at 42 or above');
    const create = async () => (await service.api.create(validInput())).publicId;
    expect(await create()).toBe(43);
    await service.database.models.counters.deleteMany({});
    expect(await create()).toBe(44);
  });
});

describe('check-data', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  beforeEach(async () => {
    env = freshEnvironment();
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
  });
  afterEach(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  it('check-data reports that every item conforms, and exits with 0', async () => {
    const stored = await store(database, record(), record({ isVisible: false }), record({ status: 'sold' }), record());
    const [decimal, unset] = stored;
    await writeMalformed(database, [
      [decimal, { price: Decimal128.fromString('12.50'), stock: Long.fromNumber(5) }],
      [unset, { discount: MISSING, boostExpiresAt: MISSING, searchTerms: MISSING, searchVersion: MISSING }],
    ]);
    const { code, stdout, stderr } = await runToExit('check-data', env, []);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('every item conforms');
  });

  it('check-data names each document that does not conform and its field, and exits with 1', async () => {
    const good = await store(database, record(), record());
    const bad = await store(database, ...MALFORMED.map((_, n) => record({ isVisible: n % 2 === 0 })));
    await writeMalformed(
      database,
      bad.map((item, n) => [item, MALFORMED[n]?.[1] ?? {}]),
    );
    const { code, stdout, stderr } = await runToExit('check-data', env, []);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout).not.toContain('every item conforms');
    const lines = stdout.split('\n').filter((line) => /[0-9a-f]{24}/.test(line));
    expect(lines).toHaveLength(bad.length);
    for (const [n, item] of bad.entries()) {
      const [what, , field] = MALFORMED[n] ?? ['', {}, ''];
      const line = lines.find((one) => one.includes(idOf(item)));
      expect([what, line]).toEqual([what, expect.stringMatching(new RegExp(`\\b${field}\\b`))]);
    }
    for (const item of good) expect(stdout).not.toContain(idOf(item));
  });

  it('check-data names a document whose id has control characters on one line', async () => {
    const { collection } = database.models.items;
    await collection.insertOne({ ...record(), _id: 'a\n\u001B[2J\u009Bb' as never });
    const { code, stdout } = await runToExit('check-data', env, []);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^a\\u000a\\u001b\[2J\\u009bb: left out of responses, id\n1 items are left out[^\n]+\n$/);
  });
});
