import { SchemaRepository, type Database } from '@app/database';
import { connectRedis, type RedisConnection } from '@app/queue';
import { openDatabase } from '../support/environment.js';
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
let database: Database;
let redis: RedisConnection;
const { CERTIFY_FAIL_OVER_MONGODB: failOverMongodb, CERTIFY_FAIL_OVER_REDIS: failOverRedis } = process.env;
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
  return command === 'skip' ? [] : [failover({ name, cause: () => operate(what, command), primary })];
}

describe('with the databases of this environment', () => {
  let stores: Stores;
  /** Whether the database was empty. Otherwise its data must not be removed. */
  let isOurs = false;
  const survivals: Survival[] = [];

  beforeAll(async () => {
    stores = Stores.external({ mongodb, redis: redisUrl });
    database = await openDatabase({ MONGODB_URI: mongodb });
    // Unlike that of a worker, this connection asks a Cluster regularly which nodes are primaries.
    redis = connectRedis(redisUrl, 'producer', () => undefined);
    await eventually(() => redis.ping());
    const collections = await database.connection.listCollections();
    if (collections.length > 0) throw new Error('The database of --mongodb is not empty: name another one');
    isOurs = true;
    await new SchemaRepository(database).createIndexes();
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
      print(`${fault.name}: SKIPPED`);
    }
  });

  async function report(): Promise<void> {
    const meaning = await describeStores(database, redis);
    const sum = (count: (survival: Survival) => number): string =>
      String(survivals.reduce((total, survival) => total + count(survival), 0));
    print(`200: the item is ${meaning[200]}. ${sum(({ created }) => created)} creates got one.`);
    print(
      `202: the job is ${meaning[202]}. ${sum(({ accepted }) => accepted)} creates got one, ${sum(({ acceptedAndLost }) => acceptedAndLost)} were lost.`,
    );
  }
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function describeSurvival({ created, accepted, acceptedAndLost, recoveredMs }: Survival): string {
  return `${String(created)} × 200, ${String(accepted)} × 202 (${String(acceptedAndLost)} lost), next create after ${String(recoveredMs)} ms`;
}
