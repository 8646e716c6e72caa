import { SchemaRepository, type Database } from '@app/database';
import { connectRedis, type RedisConnection } from '@app/queue';
import { eventually } from '../support/eventually.js';
import { openDatabase } from '../support/service.js';
import type { Deployment } from './deployment.js';
import { faults, type Fault } from './faults.js';
import type { Load } from './load.js';
import { operate } from './operator.js';
import { describeStores } from './staging-report.js';
import { Stores } from './stores.js';
import { expectSurvived, type Survival } from './survival.js';

jest.setTimeout(1_800_000);

const { CERTIFY_MONGODB: mongodb = '', CERTIFY_REDIS: redisUrl = '' } = process.env;
const FAILED_OVER_WITHIN_MS = 120_000;
/** Creates that arrive while a failover is noticed. */
const AFTER_FAILOVER = 50;

/** Waits under load until creates succeed again after something that the operator does. */
function byOperator(name: string, what: string, command: string | undefined): Fault[] {
  const inject = async (_deployment: Deployment, load: Load): Promise<void> => {
    if (!(await operate(what, command))) return;
    const since = Date.now();
    await eventually(() => {
      const succeeded = load.attempts.filter(({ at, status }) => status === 200 && at > since);
      if (succeeded.length < AFTER_FAILOVER) throw new Error(`${String(succeeded.length)} creates since it was done`);
    }, FAILED_OVER_WITHIN_MS);
  };
  return command === 'skip' ? [] : [{ name, inject, losesAccepted: true }];
}

const { CERTIFY_FAIL_OVER_MONGODB: failOverMongodb, CERTIFY_FAIL_OVER_REDIS: failOverRedis } = process.env;
const STEPS: Fault[] = [
  { name: 'ordinary load', inject: () => Promise.resolve() },
  faults.createsCopied,
  faults.workerKilled,
  faults.allWorkersKilled,
  faults.workerStopped,
  faults.apiKilled,
  faults.rollingDeploy,
  ...byOperator('a failover of MongoDB', 'Make the primary of MongoDB step down', failOverMongodb),
  ...byOperator('a failover of Redis', 'Fail Redis over to a replica, or restart it', failOverRedis),
];

describe('with the databases of this environment', () => {
  let stores: Stores;
  let database: Database;
  let redis: RedisConnection;
  const survivals: [name: string, survival: Survival][] = [];

  beforeAll(async () => {
    stores = Stores.external({ mongodb, redis: redisUrl });
    database = await openDatabase({ MONGODB_URI: mongodb });
    redis = connectRedis(redisUrl, 'worker', () => undefined);
    const items = await database.models.items.estimatedDocumentCount();
    if (items > 0) throw new Error('The database of --mongodb has items: name an empty one, whose data is removed');
    await new SchemaRepository(database).createIndexes();
  });
  beforeEach(async () => {
    await database.models.items.deleteMany({});
  });
  afterAll(async () => {
    await report();
    await database.connection.dropDatabase();
    await database.close();
    redis.disconnect();
  });

  it.each(STEPS)('no item is lost or duplicated despite $name', async (fault) => {
    survivals.push([fault.name, await expectSurvived(stores, fault)]);
  });

  async function report(): Promise<void> {
    const meaning = await describeStores(database, redis);
    const sum = (count: (survival: Survival) => number): string =>
      String(survivals.reduce((total, [, survival]) => total + count(survival), 0));
    const lines = survivals.map(
      ([name, { created, accepted, acceptedAndLost, recoveredMs }]) =>
        `${name}: ${String(created)} × 200, ${String(accepted)} × 202 (${String(acceptedAndLost)} lost), next create after ${String(recoveredMs)} ms`,
    );
    process.stdout.write(
      [
        ...lines,
        `200: the item is ${meaning[200]}. ${sum(({ created }) => created)} creates got one.`,
        `202: the job is ${meaning[202]}. ${sum(({ accepted }) => accepted)} creates got one, ${sum(({ acceptedAndLost }) => acceptedAndLost)} were lost.`,
        '',
      ].join('\n'),
    );
  }
});
