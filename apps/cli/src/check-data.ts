import { parseArgs } from 'node:util';
import { ConformityRepository } from '@app/database';
import { endWithOutput, report, runCommand } from './command.js';
import { printable } from './printable.js';
import { DATABASE_STARTS_WITHIN_MS, withDatabase } from './with-database.js';

const NON_CONFORMING = 1;

/** Lists the items that are not as this service would have written them. Exits with 1 if there are any. */
runCommand('usage: check-data', async (print) => {
  parseArgs({}); // Refuses any argument.
  endWithOutput();
  await withDatabase(report, DATABASE_STARTS_WITHIN_MS, async (database) => {
    let left = 0;
    let read = 0;
    for await (const { id, field } of new ConformityRepository(database).findNonConforming()) {
      if (field === undefined) read++;
      else left++;
      const fault = field === undefined ? 'another type than the service writes' : `left out of responses, ${field}`;
      print(printable(`${id}: ${fault}`));
    }
    if (left + read === 0) {
      print('every item conforms');
      return;
    }
    print(`${String(left)} items are left out of responses, ${String(read)} are returned but have other types`);
    process.exitCode = NON_CONFORMING;
  });
});
