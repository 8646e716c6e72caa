import { ApiKeyRepository } from '@app/database';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import { startService, startWorker, type Service } from '../support/service.js';
import { bearer } from '../support/token-issuer.js';

const CLIENTS = 32;
/** Two batches of the worker, one of which it takes before the other seller's create has been added. */
const MAX_EARLIER = 15;

/** Declares the test of a seller that has this many creates waiting. */
export function describeLargeSeller(count: number): void {
  describe('a seller with many waiting creates', () => {
    let service: Service;
    let jobs: OpenQueue;
    const started: { stop: () => Promise<void> }[] = [];

    beforeAll(async () => {
      const env = { AUTH_API_KEYS: 'on', SELLER_BACKLOG_LIMIT: String(count), WORKER_CONCURRENCY: '5' };
      service = await startService({ env, worker: false });
      jobs = openQueue(service.env);
    });
    afterAll(async () => {
      await Promise.all([jobs.close(), ...started.map((worker) => worker.stop())]);
      await service.stop();
    });

    async function keyOf(owner: string): Promise<Record<string, string>> {
      const key = { owner, scopes: ['items:create'], expiresAt: new Date(Date.now() + 600_000) };
      return bearer((await new ApiKeyRepository(service.database).create(key)).key);
    }
    async function queueAll(headers: Record<string, string>): Promise<void> {
      let queued = 0;
      const client = async (): Promise<void> => {
        while (queued++ < count) {
          const { status } = await service.api.call('create', validInput(), { ...headers, Prefer: 'respond-async' });
          expect(status).toBe(202);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
    }

    it('a seller with many waiting creates does not delay the create of another', async () => {
      const { items } = service.database.models;
      await queueAll(await keyOf('large'));
      const create = service.api.call('create', validInput(), await keyOf('quiet'));
      await eventually(async () => {
        expect(await jobs.queue.getPrioritizedCount()).toBe(count + 1);
      });
      started.push(await startWorker(service.env));
      expect((await create).status).toBe(200);
      expect(await items.countDocuments()).toBeLessThan(count / 2);
      await eventually(async () => {
        expect(await items.countDocuments()).toBe(count + 1);
      });
      const order = await items.find({}, { sellerId: 1 }).sort({ publicId: 1 }).lean();
      expect(order.findIndex(({ sellerId }) => sellerId === 'key:quiet')).toBeLessThan(MAX_EARLIER);
    });
  });
}
