import { setTimeout as delay } from 'node:timers/promises';
import type { Attempt } from './load.js';
import type { Deployment, ServiceInstance } from './deployment.js';
import { Stores } from './stores.js';
import { expectSurvived } from './survival.js';

jest.setTimeout(300_000);

/** A built checkout of the release before this one. */
const root = process.env['PREVIOUS_RELEASE'] ?? '';
/** How long releases run side by side after each step. */
const SIDE_BY_SIDE_MS = 3000;
const SUCCESSES: Attempt['status'][] = [200, 202];

const ORDERS: Record<string, (deployment: Deployment) => readonly ServiceInstance[]> = {
  'workers first': ({ workers, apis }) => [...workers, ...apis],
  'APIs first': ({ workers, apis }) => [...apis, ...workers],
  'an API and a worker at a time': ({ apis: [api1, api2], workers: [worker1, worker2] }) =>
    [api1, worker1, api2, worker2].flatMap((instance) => instance ?? []),
};

describe('an upgrade under load', () => {
  let stores: Stores;

  beforeAll(async () => {
    if (root === '') throw new Error('PREVIOUS_RELEASE is missing: run npm run test:upgrade');
    stores = await Stores.start(1);
  });
  afterAll(() => stores.remove());

  it.each(Object.entries(ORDERS))(
    'an upgrade under load loses, duplicates and refuses nothing with %s',
    async (name, order) => {
      const inject = async (deployment: Deployment): Promise<void> => {
        await delay(SIDE_BY_SIDE_MS);
        for (const instance of order(deployment)) {
          await instance.upgrade();
          await delay(SIDE_BY_SIDE_MS);
        }
      };
      const { attempts } = await expectSurvived(stores, { name, inject, root, allowedStatuses: SUCCESSES });
      expect(attempts).toBeGreaterThan(100);
    },
  );
});
