import { faults, type Fault } from './faults.js';
import { Stores } from './stores.js';
import { expectSurvived } from './survival.js';

jest.setTimeout(300_000);

const { workerKilled, redisKilled, redisRefusesWrites, mongodbKilled } = faults;
// On a busy machine, creates may also be refused for want of time.
const subscribersKilled: Fault = { ...faults.subscribersKilled, allowedStatuses: [200, 202, 503] };

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
