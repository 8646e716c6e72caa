import { removeOwnDatabases } from '../support/own-databases.js';
import { killProcesses } from '../support/processes.js';
import { Stores } from '../faults/stores.js';
import { connectionTrials } from './connection-trials.js';
import { itemTrials } from './item-trials.js';
import { queueTrials } from './queue-trials.js';
import { expectUnnoticed } from './trial.js';

jest.setTimeout(60_000);

/** A fifth of it, and with patience: other tests may run beside it. */
const SHORT = { seconds: 2, share: 0.2, withinMs: 5000 };

/** All of an attack takes minutes: `npm run test:abuse`. */
describe('an attacker goes unnoticed by a quiet client', () => {
  let stores: Stores;

  beforeAll(async () => {
    stores = await Stores.start(1);
  });
  afterAll(async () => {
    await killProcesses();
    await removeOwnDatabases();
  });

  it.each([...itemTrials(), ...queueTrials(), ...connectionTrials()])('$name', async (trial) => {
    await expectUnnoticed(stores, trial, SHORT);
  });
});
