import { setTimeout as delay } from 'node:timers/promises';
import { uniqueWord } from '../support/items.js';
import type { Attempt, Load } from './load.js';
import type { Deployment, ServiceInstance } from './deployment.js';
import { Reads } from './reads.js';
import { Stores } from './stores.js';
import { expectSurvived } from './survival.js';

jest.setTimeout(300_000);

/** A built checkout of the release before this one. */
const root = process.env['PREVIOUS_RELEASE'] ?? '';
/** How long releases run side by side after each step. */
const SIDE_BY_SIDE_MS = 3000;
/** So many creates at once are stored first, and indexed for search afterwards. */
const BURST = 100;
const SUCCESSES: Attempt['status'][] = [200, 202];

const ORDERS: Record<string, (deployment: Deployment) => readonly ServiceInstance[]> = {
  'workers first': ({ workers, apis }) => [...workers, ...apis],
  'APIs first': ({ workers, apis }) => [...apis, ...workers],
  'an API and a worker at a time': ({ apis: [api1, api2], workers: [worker1, worker2] }) =>
    [api1, worker1, api2, worker2].flatMap((instance) => instance ?? []),
};

/** The steps of docs/operations.md. The previous release has set up the database and runs. */
async function upgrade(deployment: Deployment, instances: readonly ServiceInstance[], load: Load): Promise<void> {
  await delay(SIDE_BY_SIDE_MS);
  await deployment.setUp();
  const burst = await Promise.all(Array.from({ length: BURST }, () => load.create(uniqueWord())));
  expect(burst.filter(({ status }) => status !== 200)).toEqual([]);
  await delay(SIDE_BY_SIDE_MS);
  for (const instance of instances) {
    await instance.upgrade();
    await delay(SIDE_BY_SIDE_MS);
  }
}

describe('an upgrade under load', () => {
  let stores: Stores;

  beforeAll(async () => {
    if (root === '') throw new Error('PREVIOUS_RELEASE is missing: run npm run test:upgrade');
    stores = await Stores.start(1);
  });
  afterAll(() => stores.remove());

  it.each(Object.entries(ORDERS))(
    'an upgrade under load loses, duplicates and refuses nothing, and fails no read, with %s',
    async (name, order) => {
      const inject = async (deployment: Deployment, load: Load): Promise<void> => {
        const reads = new Reads(() => deployment.apis.map(({ client }) => client), load);
        reads.start();
        await upgrade(deployment, order(deployment), load).finally(() => reads.stop());
        expect(reads.failures).toEqual([]);
        expect(reads.count).toBeGreaterThan(100);
      };
      const { attempts } = await expectSurvived(stores, { name, inject, root, allowedStatuses: SUCCESSES });
      expect(attempts).toBeGreaterThan(100);
    },
  );
});
