import { SchemaRepository } from '@app/database';
import { eventually } from '../support/eventually.js';
import { record, store } from '../support/items.js';
import { startService, type Service } from '../support/service.js';

describe('a running service', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('a running service reports that it is live and ready, with the status of each part', async () => {
    await eventually(async () => {
      const { status, body } = await service.api.request('/health/ready', {});
      expect([status, body]).toEqual([200, { status: 'ready', parts: { mongodb: 'ok', redis: 'ok' } }]);
    });
    expect((await service.api.request('/health/live', {})).body).toEqual({ status: 'live' });
  });

  it('a running service stays ready without an index that only affects speed, and names it', async () => {
    await service.database.models.items.collection.dropIndex('searchVersion_1_createdAt_1');
    // The result of a check is reused for a second.
    await eventually(async () => {
      const { status, body } = await service.api.request<{ status: string; parts: { mongodb: string } }>(
        '/health/ready',
        {},
      );
      expect([status, body.status]).toEqual([200, 'degraded']);
      expect(body.parts.mongodb).toContain('items.searchVersion_1_createdAt_1');
    });
    await new SchemaRepository(service.database).createIndexes();
  });

  it('a running service serves lists while their indexes are missing', async () => {
    const [older, newer] = await store(service.database, record({ categoryId: 31 }), record({ categoryId: 31 }));
    const { collection } = service.database.models.items;
    for (const { name } of await collection.listIndexes().toArray()) {
      if (String(name).includes('isBoosted')) await collection.dropIndex(String(name));
    }
    const lists = [{}, { status: 'available' }, { categoryId: '31' }, { search: 'red bike', categoryId: '31' }];
    const found = await Promise.all(lists.map((list) => service.api.getAll(list)));
    const after = newer._id.toHexString();
    const following = await Promise.all(lists.map((list) => service.api.getAll({ ...list, after })));
    await new SchemaRepository(service.database).createIndexes();
    expect(found.map(([first]) => first?.publicId)).toEqual(lists.map(() => newer.publicId));
    expect(following.map(([first]) => first?.publicId)).toEqual(lists.map(() => older.publicId));
  });

  it('a running service tells Prometheus which parts are working', async () => {
    await eventually(async () => {
      const text = await service.metrics();
      expect(text).toContain('item_listing_part_ok{part="mongodb"} 1');
      expect(text).toContain('process_resident_memory_bytes');
    });
  });
});
