import { faults } from './faults.js';
import { Stores } from './stores.js';
import { expectSurvived } from './survival.js';

const { workerKilled, redisKilled, redisRefusesWrites, subscribersKilled, mongodbKilled } = faults;

/** The most telling faults. `npm run test:faults` runs all of them. */
describe('no item is lost or duplicated', () => {
  let stores: Stores;

  beforeAll(async () => {
    stores = await Stores.start(1);
  });
  afterAll(async () => {
    await stores.remove();
  });

  it.each([workerKilled, redisKilled, redisRefusesWrites, subscribersKilled, mongodbKilled])(
    'no item is lost or duplicated despite $name',
    async (fault) => {
      await expectSurvived(stores, fault);
    },
  );
});
