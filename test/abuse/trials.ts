import { Stores } from '../faults/stores.js';
import { removeOwnDatabases } from '../support/own-databases.js';
import { killProcesses } from '../support/processes.js';
import { connectionTrials } from './connection-trials.js';
import { itemTrials } from './item-trials.js';
import { queueTrials } from './queue-trials.js';
import { expectUnnoticed } from './trial.js';

/** Declares one test for each attack, all at the same scale. */
export function describeTrials(size: Parameters<typeof expectUnnoticed>[2]): void {
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
      await expectUnnoticed(stores, trial, size);
    });
  });
}
