import { Stores } from '../faults/stores.js';
import { removeDatabaseServers } from '../support/database-servers.js';
import { killProcesses } from '../support/processes.js';
import { connectionScenarios } from './connection-scenarios.js';
import { itemScenarios } from './item-scenarios.js';
import { queueScenarios } from './queue-scenarios.js';
import { expectUnnoticed } from './scenario.js';

/** Declares one test for each attack, all at the same scale. */
export function describeScenarios(size: Parameters<typeof expectUnnoticed>[2]): void {
  describe('an attacker goes unnoticed by a quiet client', () => {
    let stores: Stores;

    beforeAll(async () => {
      stores = await Stores.start(1);
    });
    afterAll(async () => {
      await killProcesses();
      await removeDatabaseServers();
    });

    it.each([...itemScenarios(), ...queueScenarios(), ...connectionScenarios()])(
      'a quiet client does not notice $name',
      async (scenario) => {
        await expectUnnoticed(stores, scenario, size);
      },
    );
  });
}
