import { faults } from './faults.js';
import { Stores } from './stores.js';
import { expectSurvived } from './trial.js';

jest.setTimeout(120_000);

const { workerKilled, redisKilled, redisRefuses, subscribersKilled, mongodbKilled } = faults;

/** The most telling of the faults; `npm run test:faults` has them all. */
describe('nothing is lost and nothing doubled', () => {
  let stores: Stores;

  beforeAll(async () => {
    stores = await Stores.start(1);
  });
  afterAll(async () => {
    await stores.remove();
  });

  it.each([workerKilled, redisKilled, redisRefuses, subscribersKilled, mongodbKilled])('$name', async (fault) => {
    await expectSurvived(stores, fault);
  });
});
