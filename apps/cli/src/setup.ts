import 'reflect-metadata';
import { parseArgs } from 'node:util';
import {
  CounterRepository,
  initiateReplicaSet,
  MaintenanceRepository,
  SchemaRepository,
  SecretRepository,
} from '@app/database';
import { SearchBackfill } from '@app/items';
import { DATABASE_STARTS_WITHIN_MS, runCommand, tryFor, withDatabase } from './command.js';

const USAGE = 'usage: setup [--init-replica-set SET/HOST:PORT]';
const WAIT_FOR_MONGOD_MS = 120_000;

/**
 * Makes a database ready for the service: indexes, the publicId sequence, the secret of idempotency keys, derived
 * fields. Does nothing where nothing is to be done; interrupted, it can be run again.
 */
runCommand(USAGE, async (say) => {
  const { values } = parseArgs({ options: { 'init-replica-set': { type: 'string' } } });
  const member = values['init-replica-set'];
  if (member !== undefined) await initiate(member, say);

  await withDatabase(say, DATABASE_STARTS_WITHIN_MS, async (database) => {
    const schema = new SchemaRepository(database);
    await schema.createIndexes();
    const former = await schema.dropFormerIndexes();
    say(`indexes are there${former.length > 0 ? `, removed those of earlier versions: ${former.join(', ')}` : ''}`);
    const highest = await new CounterRepository(database).raiseToHighestStored();
    say(`publicId sequence is at ${String(highest)} or above`);
    await new SecretRepository(database).findOrCreate('idempotency');
    const derived = await new SearchBackfill(new MaintenanceRepository(database)).run(new Date());
    say(`search terms are up to date (${String(derived)} items were not)`);
  });
});

async function initiate(member: string, say: (line: string) => void): Promise<void> {
  const [, set, host] = /^([^/]+)\/([^/]+:\d+)$/.exec(member) ?? [];
  if (set === undefined || host === undefined) throw new TypeError(USAGE);
  await tryFor(WAIT_FOR_MONGOD_MS, `MongoDB at ${host}`, say, () => initiateReplicaSet({ set, host }));
  say(`replica set ${set} has its member ${host}`);
}
