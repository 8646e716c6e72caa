import { createApiKey } from '../support/api-keys.js';
import { eventually } from '../support/eventually.js';
import { validInput } from '../support/items.js';
import { openQueue, type OpenQueue } from '../support/queue.js';
import { startService, startWorker, type Service } from '../support/service.js';
import { bearer } from '../support/token-issuer.js';

const CLIENTS = 32;
const STORED_WITHIN_MS = 100_000;
/** The few jobs of its priority that were added before it, and those of its batch. */
const MAX_EARLIER = 15;

jest.setTimeout(300_000);

/** Declares the test of a seller that has this many creates waiting. */
export function describeLargeSeller(count: number): void {
  describe('a seller with many waiting creates', () => {
    let service: Service;
    let jobs: OpenQueue;
    let worker: { stop: () => Promise<void> } | undefined;

    beforeAll(async () => {
      // Not reached, although jobs may be counted twice while they are added.
      const limits = { SELLER_BACKLOG_LIMIT: String(2 * count), WORKER_CONCURRENCY: '5' };
      // Longer than a busy machine takes to queue all, because a create is refused if no job is done in that time.
      const env = { AUTH_API_KEYS: 'on', CREATE_WAIT_MS: '120000', ...limits };
      service = await startService({ env, worker: false });
      jobs = openQueue(service.env);
    });
    afterAll(async () => {
      await Promise.all([jobs.close(), worker?.stop()]);
      await service.stop();
    });

    const keyOf = async (owner: string): Promise<Record<string, string>> =>
      bearer(await createApiKey(service.database, owner));
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
      const key = await keyOf('quiet');
      const create = async (): Promise<{ status: number; stored: number }> => {
        const { status } = await service.api.call('create', validInput(), key);
        return { status, stored: await items.countDocuments() };
      };
      const created = create();
      await eventually(async () => {
        expect(await jobs.queue.getPrioritizedCount()).toBe(count + 1);
      });
      worker = await startWorker(service.env);
      const { status, stored } = await created;
      expect(status).toBe(200);
      expect(stored).toBeLessThan(count / 2);
      await eventually(async () => {
        expect(await items.countDocuments()).toBe(count + 1);
      }, STORED_WITHIN_MS);
      const order = await items.find({}, { sellerId: 1 }).sort({ publicId: 1 }).lean();
      expect(order.findIndex(({ sellerId }) => sellerId === 'key:quiet')).toBeLessThan(MAX_EARLIER);
    });
  });
}
