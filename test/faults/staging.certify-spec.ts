import { checkMongodbUri, Database, NO_REPLICA_SET } from '@app/database';
import { connectRedis, parseRedisUrl, type RedisConnection } from '@app/queue';
import { eventually } from '../support/eventually.js';
import { failover, type Failover } from './failover.js';
import { faults, type Fault } from './faults.js';
import { operate, Skipped } from './operator.js';
import { primariesOfRedis, primaryOfMongodb } from './primaries.js';
import { describeStores } from './staging-report.js';
import { Stores } from './stores.js';
import { expectSurvived, type Survival } from './survival.js';

jest.setTimeout(1_800_000);

const { CERTIFY_MONGODB: mongodb = '', CERTIFY_REDIS: redisUrl = '' } = process.env;
checkMongodbUri(mongodb);
parseRedisUrl(redisUrl);
const CONNECT_WITHIN_MS = 30_000;
const database = new Database({ uri: mongodb, serverSelectionMs: 5000, socketMs: 0 });
let redis: RedisConnection;
const { CERTIFY_FAIL_OVER_MONGODB: failOverMongodb, CERTIFY_FAIL_OVER_REDIS: failOverRedis } = process.env;
/** Names of the steps that the operator has skipped. Jest counts one that was skipped on the terminal as passed. */
const skipped: string[] = [];
const STEPS: Fault[] = [
  { name: 'ordinary load', inject: () => Promise.resolve() },
  faults.createsCopied,
  faults.workerKilled,
  faults.allWorkersKilled,
  faults.workerStopped,
  faults.apiKilled,
  faults.rollingDeploy,
  ...byOperator('a failover of MongoDB', 'Make the primary of MongoDB step down', failOverMongodb, () =>
    primaryOfMongodb(database),
  ),
  ...byOperator('a failover of Redis', 'Fail Redis over to a replica, or restart it', failOverRedis, () =>
    primariesOfRedis(redis),
  ),
];

function byOperator(name: string, what: string, command: string | undefined, primary: Failover['primary']): Fault[] {
  if (command !== 'skip') return [failover({ name, cause: () => operate(what, command), primary })];
  skipped.push(name);
  return [];
}

describe('with the databases of this environment', () => {
  let stores: Stores;
  /** Whether the database was empty. Otherwise its data must not be removed. */
  let isOurs = false;
  const survivals: Survival[] = [];

  beforeAll(async () => {
    stores = Stores.external({ mongodb, redis: redisUrl });
    // Unlike that of a worker, this connection asks a Cluster regularly which nodes are primaries.
    redis = connectRedis(redisUrl, 'producer', () => undefined);
    await connectToMongodb();
    await eventually(() => redis.ping(), CONNECT_WITHIN_MS).catch((cause: unknown) => {
      throw new Error('Redis does not respond', { cause });
    });
    const collections = await database.connection.listCollections();
    if (collections.length > 0) throw new Error('The database of --mongodb is not empty: name another one');
    isOurs = true;
  });
  beforeEach(async () => {
    await database.models.items.deleteMany({});
  });
  afterAll(async () => {
    try {
      if (isOurs) await report();
    } finally {
      if (isOurs) await database.connection.dropDatabase();
      await database.close();
      redis.disconnect();
    }
  });

  it.each(STEPS)('no item is lost or duplicated despite $name', async (fault) => {
    try {
      const survival = await expectSurvived(stores, fault);
      survivals.push(survival);
      print(`${fault.name}: ${describeSurvival(survival)}`);
    } catch (error) {
      if (!(error instanceof Skipped)) throw error;
      skipped.push(fault.name);
    }
  });

  async function report(): Promise<void> {
    for (const name of skipped) print(`${name}: SKIPPED. It was not seen whether one loses or duplicates items.`);
    const meaning = await describeStores(database, redis);
    const sum = (count: (survival: Survival) => number): string =>
      String(survivals.reduce((total, survival) => total + count(survival), 0));
    print(`200: the item is ${meaning[200]}. ${sum(({ created }) => created)} creates got one.`);
    print(
      `202: the job is ${meaning[202]}. ${sum(({ accepted }) => accepted)} creates got one, ${sum(({ acceptedAndLost }) => acceptedAndLost)} were lost.`,
    );
  }
});

/** Gives up after a while, because the host or the password may be wrong. Until then, prints why MongoDB is unavailable. */
async function connectToMongodb(): Promise<void> {
  const giveUp = setTimeout(() => void database.close(), CONNECT_WITHIN_MS);
  await database.connect(print);
  clearTimeout(giveUp);
  if (database.hasResponded) return;
  const silent = `MongoDB did not respond within ${String(CONNECT_WITHIN_MS / 1000)} s`;
  throw new Error(database.isReplicaSetMissing ? `MongoDB has ${NO_REPLICA_SET}` : silent);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function describeSurvival({ created, accepted, acceptedAndLost, recoveredMs }: Survival): string {
  return `${String(created)} × 200, ${String(accepted)} × 202 (${String(acceptedAndLost)} lost), next create after ${String(recoveredMs)} ms`;
}
