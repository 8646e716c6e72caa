import type { ErrorBody, InputIssue, Item } from '@app/contracts';
import { untilServed, type HttpResponse } from './support/api-client.js';
import { cpuMs } from './support/cpu-time.js';
import { expectError } from './support/errors.js';
import { validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

describe('a value', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  /** Sends a create with raw JSON as the value of `field`, because JSON.stringify would normalize it. */
  const create = (field: string, json: string): Promise<HttpResponse<unknown>> =>
    post(
      'create',
      JSON.stringify(validInput({ [field]: '<here>' })).replace('"<here>"', () => json),
    );
  const post = (operation: string, body: string): Promise<HttpResponse<unknown>> =>
    untilServed(() => service.api.post(`/api/orpc/items/${operation}`, body, { 'Content-Type': 'application/json' }));

  const created = async (field: string, json: string): Promise<Item> => {
    const response = (await create(field, json)) as HttpResponse<Item>;
    expect([response.status, response.body]).toEqual([
      200,
      expect.objectContaining({ name: expect.any(String) as string }),
    ]);
    const stored = await service.api.call<Item>('getById', { id: response.body.id });
    expect(JSON.stringify(stored.body)).toBe(JSON.stringify(response.body));
    return response.body;
  };
  const refused = async (request: Promise<HttpResponse<unknown>>): Promise<InputIssue[]> => {
    const response = (await request) as HttpResponse<ErrorBody>;
    expectError(response, 400, 'BAD_REQUEST');
    expect(JSON.stringify(response.body).isWellFormed()).toBe(true);
    return (response.body.data as { issues: InputIssue[] }).issues;
  };
  const pathsOf = async (request: Promise<HttpResponse<unknown>>): Promise<InputIssue['path'][]> =>
    (await refused(request)).map(({ path }) => path);

  describe('that is a number', () => {
    const TOO_LARGE = [
      '9007199254740992',
      '-9007199254740992',
      '9007199254740993',
      '12345678901234567890',
      '9'.repeat(400),
      `-${'9'.repeat(400)}`,
      '1e400',
      '-1e400',
      '1E+400',
      `${'9'.repeat(400)}.5`,
    ];

    it.each(TOO_LARGE)('a number is refused with its path if it is too large to be exact: %s', async (json) => {
      for (const field of ['brandId', 'conditionId', 'stock', 'price']) {
        const [issue, ...more] = await refused(create(field, json));
        expect([issue?.path, more]).toEqual([[field], []]);
        expect(issue?.message).toMatch(/cannot be stored exactly/);
      }
    });

    it.each(TOO_LARGE)(
      'a number in photos is refused with its path if it is too large to be exact: %s',
      async (json) => {
        expect(await pathsOf(create('photos', `[{},{"a":[0,{"b":${json}}]}]`))).toEqual([['photos', 1, 'a', 1, 'b']]);
        expect(await pathsOf(create('photos', `[${json}]`))).toEqual([['photos', 0]]);
      },
    );

    it.each(TOO_LARGE)('a number at an unknown key is ignored if it is too large to be exact: %s', async (json) => {
      expect(await created('unknown', json)).not.toHaveProperty('unknown');
    });

    it('a number is refused by getAll if it is too large to be exact', async () => {
      expect(await pathsOf(post('getAll', '{"page":9007199254740993,"pageSize":1e400}'))).toEqual([
        ['page'],
        ['pageSize'],
      ]);
      expect((await post('getAll', '{"json":{"x":9007199254740993},"meta":[[9007199254740993,"x"]]}')).status).toBe(
        200,
      );
    });

    it.each(['9007199254740991', '-9007199254740991', '0', '-1', '1.5', '0.1', '1e3', '2147483648', '1e308', '5e-324'])(
      'a number is stored exactly: %s',
      async (json) => {
        expect((await created('brandId', json)).brandId).toBe(Number(json));
        expect((await created('photos', `[${json},{"a":${json}}]`)).photos).toEqual([
          Number(json),
          { a: Number(json) },
        ]);
      },
    );

    it('a number is stored as JSON.parse reads it if it is not written as an integer', async () => {
      const photos = '[1e20,12345678901234567890.0,0.30000000000000004,1.7976931348623157e308]';
      expect((await created('photos', photos)).photos).toEqual(JSON.parse(photos));
    });

    it('a number is stored as zero if it is minus zero, as JSON.stringify writes it', async () => {
      expect((await created('brandId', '-0')).brandId).toBe(0);
      expect((await created('price', '-0.0')).price).toBe(0);
    });

    it('a number is accepted as a stock if it is an integer, however it is written', async () => {
      expect((await created('stock', '1e2')).stock).toBe(100);
      expect((await created('stock', '2.0')).stock).toBe(2);
      expect(await pathsOf(create('stock', '1e20'))).toEqual([['stock']]);
    });

    it('a number within a string is text, whatever its digits', async () => {
      const text = '9007199254740993 \\" 12345678901234567890 \\\\';
      const { name, photos } = await created('name', `"${text}"`).then(async ({ name }) => ({
        name,
        photos: (await created('photos', `["${text}",{"${text}":"${text}"},9007199254740991]`)).photos,
      }));
      const parsed = JSON.parse(`"${text}"`) as string;
      expect([name, photos]).toEqual([parsed, [parsed, { [parsed]: parsed }, 9007199254740991]]);
    });
  });

  describe('that is text', () => {
    const LONE = ['"\\ud800abc"', '"abcdefghijk\\udfff"', '"abc\\udc00\\ud800abcdef"'];

    it.each(LONE)('a text is refused with its path if it has a lone surrogate: %s', async (json) => {
      for (const field of ['name', 'description', 'categoryId']) {
        expect((await pathsOf(create(field, json)))[0]).toEqual([field]);
      }
      expect(await pathsOf(create('images', `["x",${json}]`))).toEqual([['images', 1]]);
      expect(await pathsOf(create('photos', `[{"a":[${json}]}]`))).toEqual([['photos', 0, 'a', 0]]);
      for (const field of ['search', 'userId', 'categoryId', 'after']) {
        expect(await pathsOf(post('getAll', `{"${field}":${json}}`))).toEqual([[field]]);
      }
    });

    it('a text is ignored at an unknown key, and as one, if it has a lone surrogate', async () => {
      expect(await created('unknown', '"\\ud800"')).not.toHaveProperty('unknown');
      expect((await post('getAll', '{"\\ud800":1}')).status).toBe(200);
    });

    it('a text is stored with any characters, including those beyond the BMP', async () => {
      const text = '🚲👩‍👩‍👧 é é ﷺ \u0000\u0001\u2028\uFFFF\u202E "\\/';
      const { id } = await service.api.create(
        validInput({
          name: text,
          description: text,
          images: [text],
          photos: [text, { [text.replace('\0', '')]: text }],
        }),
      );
      const { body } = await service.api.call<Item>('getById', { id });
      expect([body.name, body.description, body.images, body.imageUrl]).toEqual([text, text, [text], text]);
      expect(body.photos).toEqual([text, { [text.replace('\0', '')]: text }]);
    });

    it.each([
      ['name', 3],
      ['description', 10],
    ])('a text is measured in code points: %s', async (field, min) => {
      expect(await pathsOf(create(field, `"${'🚲'.repeat(min - 1)}"`))).toEqual([[field]]);
      expect(await created(field, `"${'🚲'.repeat(min)}"`)).toMatchObject({ [field]: '🚲'.repeat(min) });
      expect(await pathsOf(create(field, `"${'x'.repeat(min - 1)}"`))).toEqual([[field]]);
      expect(await created(field, `"${'é'.repeat(min)}"`)).toMatchObject({ [field]: 'é'.repeat(min) });
    });
  });

  describe('within photos', () => {
    it.each([
      ['{}'],
      ['null'],
      ['1'],
      ['"x"'],
      ['false'],
      ['[]'],
      ['[[],{}]'],
      ['{"a":null,"b":{},"c":[]}'],
      ['{"":1,"a":{"":{"":2}}}'],
      ['{"__proto__":{"a":1},"b":2}'],
      ['{"__proto__":null}'],
      ['{"constructor":{"prototype":{"a":1}},"hasOwnProperty":1}'],
      ['{"toJSON":1,"toBSON":2,"toString":3,"valueOf":4,"then":5}'],
      ['{"$where":"1","$set":{"a":1},"$gt":""}'],
      ['{"a.b":1,".":2,"a..b":3,"$":4,"$a.b":5}'],
      ['{"_id":1,"id":2,"__v":3}'],
      ['{"$ref":"items","$id":1}'],
      ['{"$ref":"items","$id":"x","$db":"other"}'],
      ['{"$ref":"a.b.c","$id":{"$oid":"ffffffffffffffffffffffff"},"x":1}'],
      ['{"$ref":"a.b"}'],
      ['{"$ref":"a.b","$id":null}'],
      ['{"$oid":"ffffffffffffffffffffffff"}'],
      ['{"$date":"2026-01-01T00:00:00Z"}'],
      ['{"$numberLong":"1","$binary":{"base64":"","subType":"00"}}'],
      ['{"$code":"1","$scope":{}}'],
      ['{"$timestamp":{"t":1,"i":2},"$regex":"a","$options":"i"}'],
      ['{"0":"a","1":"b","length":2}'],
      ['{"buffer":{"type":"Buffer","data":[1]}}'],
      ['"2026-01-01T00:00:00.000Z"'],
      ['"ffffffffffffffffffffffff"'],
    ])('a value within photos is returned as sent by create and by getById: %s', async (json) => {
      const { photos } = await created('photos', `[${json},{"in":[${json}]}]`);
      expect(JSON.stringify(photos)).toBe(JSON.stringify(JSON.parse(`[${json},{"in":[${json}]}]`)));
    });

    it('a value within photos may be nested 32 levels deep, including the array of photos', async () => {
      const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
      expect(JSON.stringify((await created('photos', nested(32))).photos)).toBe(nested(32));
      const [issue, ...more] = await refused(create('photos', nested(33)));
      expect([issue?.path, more]).toEqual([['photos', ...Array.from({ length: 32 }, () => 0)], []]);
      const objects = `[${'{"a":'.repeat(31)}1${'}'.repeat(31)}]`;
      expect(JSON.stringify((await created('photos', objects)).photos)).toBe(objects);
      expect(await refused(create('photos', `[${objects}]`))).toHaveLength(1);
    });

    it('a value at an unknown key may be nested to any depth', async () => {
      expect(await created('unknown', '['.repeat(15_000) + ']'.repeat(15_000))).not.toHaveProperty('unknown');
    });

    it.each([
      ['{"_bsontype":"ObjectId"}', ['_bsontype']],
      ['{"_bsontype":null}', ['_bsontype']],
      ['{"a":[{"_bsontype":1}]}', ['a', 0, '_bsontype']],
      ['{"a\\u0000":1}', ['a\0']],
      ['{"a":{"\\u0000":1}}', ['a', '\0']],
      ['{"\\ud800":1}', ['\ufffd']],
      ['[[{"a\\udfffb":{}}]]', [0, 0, 'a\ufffdb']],
    ])('a value within photos is refused at a key that cannot be stored: %s', async (json, path) => {
      expect(await pathsOf(create('photos', `[1,${json}]`))).toEqual([['photos', 1, ...path]]);
    });

    it.each([
      '{"$ref":"other.items","$id":1}',
      '{"x":1,"$db":"other","$id":{},"$ref":"."}',
      '{"$ref":"items","$id":1,"__proto__":{}}',
    ])('a value within photos is refused as a reference that MongoDB would change: %s', async (json) => {
      expect(await pathsOf(create('photos', `[1,[${json}]]`))).toEqual([['photos', 1, 0]]);
    });

    it('values within photos are refused with all issues at once', async () => {
      const paths = await pathsOf(create('photos', '[1e400,"\\ud800",{"_bsontype":1,"\\u0000":2,"a":1e400}]'));
      expect(paths).toEqual([
        ['photos', 0],
        ['photos', 1],
        ['photos', 2, '_bsontype'],
        ['photos', 2, '\0'],
        ['photos', 2, 'a'],
      ]);
    });
  });

  it('the last value counts if a key is repeated', async () => {
    expect((await created('brandId', '1,"brandId":2')).brandId).toBe(2);
    expect((await created('brandId', '1e400,"brandId":2')).brandId).toBe(2);
    expect((await created('photos', '[{"a":1,"a":2}]')).photos).toEqual([{ a: 2 }]);
  });

  describe('that is hostile', () => {
    const MANY = 100_000;
    const numbered = (count: number, member: (index: number) => string): string =>
      Array.from({ length: count }, (_, index) => member(index)).join(',');

    it.each([
      ['too many images', 'images', `[${numbered(MANY, () => '0')}]`],
      ['too many photos', 'photos', `[${numbered(MANY, () => '1e400')}]`],
      ['wrong numbers in a photo', 'photos', `[[${numbered(MANY, () => '1e400')}]]`],
      ['wrong keys in a photo', 'photos', `[{${numbered(15_000, (i) => `"\\u0000${String(i)}":0`)}}]`],
      ['reasons below a long key', 'photos', `[{"${'x'.repeat(500_000)}":[${numbered(50_000, () => '1e400')}]}]`],
      ['a long wrong key', 'photos', `[{"${'x'.repeat(900_000)}\\u0000":0}]`],
      ['too deep in many places', 'photos', `[[${numbered(450, () => '['.repeat(40) + ']'.repeat(40))}]]`],
      ['a long text where none belongs', 'stock', `"${'x'.repeat(900_000)}"`],
    ])('a hostile value is refused quickly and with a small response: %s', async (_, field, json) => {
      const spentMs = await cpuMs(async () => {
        const { status, headers } = await create(field, json);
        expect(status).toBe(400);
        expect(Number(headers.get('content-length'))).toBeLessThan(32_768);
      });
      expect(spentMs).toBeLessThan(2000);
    });
  });
});
