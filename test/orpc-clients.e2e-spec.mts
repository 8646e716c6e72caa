import { ItemSchema } from '../libs/contracts/src/index.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { CLIENTS, nextRpc, oldRpc, openApi, rejectionOf, rpc, type Input } from './support/orpc-clients.mjs';
import { startService, type Service } from './support/service.js';

describe('an unmodified client', () => {
  let service: Service;
  let base: string;
  beforeAll(async () => {
    service = await startService();
    ({ base } = service.api);
  });
  afterAll(() => service.stop());

  describe.each([...CLIENTS, ['RPCLink 2.0 beta', nextRpc] as const])('%s', (_, connect) => {
    it('an unmodified client performs every operation', async () => {
      const { items } = connect(base);
      const name = uniqueWord();
      const created = await items.create(validInput({ name, photos: [{ takenAt: null }] }) as Input<'create'>);
      expect(ItemSchema.parse(created)).toEqual(created);
      expect(created).toMatchObject({ name, photos: [{ takenAt: null }] });
      expect(await items.getById({ id: created.id })).toEqual(created);
      await eventually(async () => {
        expect(await items.getAll({ search: name, pageSize: 1 })).toEqual([created]);
      });
      expect(await items.getAll({ search: uniqueWord() })).toEqual([]);
    });

    it('an unmodified client omits undefined fields', async () => {
      const list = connect(base).items.getAll({ search: uniqueWord(), userId: undefined });
      expect(await list).toEqual([]);
    });

    it('an unmodified client may send native types in unknown fields', async () => {
      const unknown = { when: new Date(0), n: 1n, set: new Set([1]), map: new Map([[1, 2]]), not: NaN, re: /x/g };
      expect(await connect(base).items.getAll({ search: uniqueWord(), ...unknown })).toEqual([]);
    });
  });

  describe('that calls getAll without input', () => {
    const call = (connect: typeof rpc): Promise<unknown> =>
      // @ts-expect-error -- the contract requires an input because of how RPCLink encodes a missing one
      connect(base).items.getAll();

    it('getAll without input through OpenAPILink gets the list', async () => {
      expect(await call(openApi)).toEqual(await service.api.getAll());
    });

    it.each([
      ['1.16', rpc],
      ['1.2', oldRpc],
      ['2.0 beta', nextRpc],
    ])(
      'getAll without input through RPCLink %s succeeds, but finds no envelope in the response',
      async (_, connect) => {
        expect(await call(connect)).toBeUndefined();
      },
    );
  });

  it.each([
    ['1.16', rpc],
    ['1.2', oldRpc],
  ])('RPCLink %s gets an error that names the field for a native type', async (_, connect) => {
    const { items } = connect(base);
    for (const [field, value] of Object.entries({
      brandId: NaN,
      stock: 1n,
      name: new Date(0),
      images: new Set(['a']),
      description: /long enough/,
      categoryId: new URL('http://x'),
      photos: [undefined],
    })) {
      const { code, data } = await rejectionOf(items.create(validInput({ [field]: value }) as Input<'create'>));
      expect([code, data]).toEqual([
        'BAD_REQUEST',
        { issues: [{ path: [field], message: expect.any(String) as string }] },
      ]);
    }
  });

  it('the types of the contract reject images that are not texts, as the API does', async () => {
    const input = validInput() as Input<'create'>;
    // @ts-expect-error -- The element is a number.
    const images: Input<'create'>['images'] = [42];
    const { code } = await rejectionOf(rpc(base).items.create({ ...input, images }));
    expect(code).toBe('BAD_REQUEST');
  });

  it('RPCLink 2.0 beta gets an error with the original error in its data', async () => {
    const { items } = nextRpc(base);
    expect(await rejectionOf(items.getAll({ search: new Date(0) } as unknown as Input<'getAll'>))).toMatchObject({
      code: 'MALFORMED_ORPC_ERROR_RESPONSE',
      data: { status: 400, body: { code: 'BAD_REQUEST', data: { issues: [{ path: ['search'] }] } } },
    });
    expect(await rejectionOf(items.getById({ id: 'x' }))).toMatchObject({
      code: 'MALFORMED_ORPC_ERROR_RESPONSE',
      data: { status: 404, body: { code: 'NOT_FOUND', message: 'No such item' } },
    });
  });
});
