import type { ErrorBody } from '@app/contracts';
import { createMongodb, removeDatabaseServers, startMongodb } from './support/database-servers.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { startService, type Service } from './support/service.js';

/** Release 8.2 rejects operations in this way if there are too many. */
const REJECTION = {
  failCommands: ['find', 'aggregate', 'insert', 'update', 'findAndModify'],
  errorCode: 463,
  errorLabels: ['SystemOverloadedError', 'RetryableError', 'NoWritesPerformed'],
};

describe('a MongoDB that rejects operations because it is overloaded', () => {
  let service: Service;
  let jobs: OpenQueue;
  beforeAll(async () => {
    const mongod = await createMongodb('--setParameter', 'enableTestCommands=1');
    await startMongodb(mongod);
    service = await startService({ env: { MONGODB_URI: mongod.url } });
    jobs = openQueue(service.env);
  });
  afterEach(() => reject('off'));
  afterAll(async () => {
    await jobs.close();
    await service.stop();
    await removeDatabaseServers();
  });

  const reject = async (mode: 'alwaysOn' | 'off'): Promise<void> => {
    const admin = service.database.connection.getClient().db('admin');
    const data = mode === 'alwaysOn' ? { data: REJECTION } : {};
    await admin.command({ configureFailPoint: 'failCommand', mode, ...data });
  };

  it('reads get a 503 while MongoDB is overloaded', async () => {
    const { id } = await service.api.create(validInput());
    await reject('alwaysOn');
    for (const [operation, input] of [
      ['getAll', {}],
      ['getById', { id }],
    ] as const) {
      const { status, headers, body } = await service.api.callOnce<ErrorBody>(operation, input);
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '1']);
    }
    await reject('off');
    expect((await service.api.call('getById', { id })).status).toBe(200);
  });

  it('creates wait while MongoDB is overloaded, and use up no attempt of their jobs', async () => {
    await reject('alwaysOn');
    const queued = await service.api.call<{ id: string }>('create', validInput(), { Prefer: 'respond-async' });
    expect(queued.status).toBe(202);
    const { id } = queued.body;
    await eventually(async () => {
      expect((await jobs.queue.getJob(id))?.attemptsStarted).toBeGreaterThan(1);
    });
    expect((await jobs.queue.getJob(id))?.attemptsMade).toBe(0);
    await reject('off');
    await eventually(async () => {
      expect((await service.api.call('getById', { id })).status).toBe(200);
    });
  });
});
