import type { ErrorBody } from '@app/contracts';
import { addFavourites, record, store } from './support/items.js';
import { createMongodb, startMongodb, removeDatabaseServers } from './support/database-servers.js';
import { startService, type Service } from './support/service.js';

describe('queries that take too long', () => {
  let service: Service;
  beforeAll(async () => {
    const mongod = await createMongodb('--setParameter', 'enableTestCommands=1');
    await startMongodb(mongod);
    service = await startService({ env: { MONGODB_URI: mongod.url }, worker: false });
  });
  afterEach(() => timeOut('off'));
  afterAll(async () => {
    await service.stop();
    await removeDatabaseServers();
  });

  /** With `alwaysOn`, MongoDB aborts every operation that was sent with a time limit, and no other. */
  const timeOut = async (mode: 'alwaysOn' | 'off'): Promise<void> => {
    const admin = service.database.connection.getClient().db('admin');
    await admin.command({ configureFailPoint: 'maxTimeAlwaysTimeOut', mode });
  };

  it('queries that take too long are aborted by MongoDB and get a 503', async () => {
    const [item] = await store(service.database, record());
    await addFavourites(service.database, 'reader', [item]);
    const id = item._id.toHexString();
    const reads = [
      ['getAll', {}],
      ['getAll', { search: 'bike' }],
      ['getAll', { after: id }],
      ['getAll', { userId: 'reader' }],
      ['getById', { id }],
    ] as const;
    for (const [operation, input] of reads) expect((await service.api.call(operation, input)).status).toBe(200);
    await timeOut('alwaysOn');
    for (const [operation, input] of reads) {
      const { status, headers, body } = await service.api.callOnce<ErrorBody>(operation, input);
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
    }
  });
});
