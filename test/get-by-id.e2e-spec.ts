import type { Item } from '@app/contracts';
import { record, store, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

describe('getById', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('getById returns a created item immediately, identical in every field', async () => {
    const created = await service.api.create(validInput());
    const { status, body } = await service.api.call<Item>('getById', { id: created.id });
    expect(status).toBe(200);
    expect(body).toEqual(created);
  });

  it('getById returns a hidden item', async () => {
    const [hidden] = await store(service.database, record({ isVisible: false }));
    const { body } = await service.api.call<Item>('getById', { id: hidden._id.toHexString() });
    expect(body.isVisible).toBe(false);
  });

  it.each(['ffffffffffffffffffffffff', '', 'x', '12', 'FFFFFFFFFFFFFFFFFFFFFFFF', '../etc', '\u0000', '\ud800'])(
    'getById responds with 404 for %j',
    async (id) => {
      expect(await service.api.error('getById', { id })).toEqual({
        defined: false,
        code: 'NOT_FOUND',
        status: 404,
        message: 'No such item',
      });
    },
  );

  it.each([[{}], [{ id: null }], [{ id: 1 }], [{ id: ['x'] }], [{ id: { $ne: null } }]])(
    'getById rejects %j and names the field',
    async (input) => {
      const { status, data } = await service.api.error('getById', input);
      expect(status).toBe(400);
      expect(data.issues.map(({ path }) => path)).toEqual([['id']]);
    },
  );

  it('getById returns a lapsed boost as ended', async () => {
    const lapsed = { isBoosted: true, boostScore: 5, boostExpiresAt: new Date(Date.now() - 1000) };
    const [stored] = await store(service.database, record(lapsed));
    const { body } = await service.api.call<Item>('getById', { id: stored._id.toHexString() });
    expect(body.isBoosted).toBe(false);
  });

  it('getById returns null for a nullable field that another service has unset', async () => {
    const [stored] = await store(service.database, record());
    const unset = { discount: 1, sizeTitle: 1, boostExpiresAt: 1, deliveryTimeEstimate: 1, brandTitle: 1 };
    await service.database.models.items.collection.updateOne({ _id: stored._id }, { $unset: unset });
    const { body } = await service.api.call<Item>('getById', { id: stored._id.toHexString() });
    expect(Object.keys(body)).toHaveLength(35);
    expect(Object.keys(unset).map((field) => body[field as keyof Item])).toEqual([null, null, null, null, null]);
  });
});
