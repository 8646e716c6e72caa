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

/** Returns what changes with a failover, or when a server is started again. */
type Identify = (deployment: Deployment) => Promise<unknown>;

const primaryOfMongodb: Identify = async ({ database }) => {
  const { electionId } = await database.connection.getClient().db('admin').command({ hello: 1 });
  return electionId as unknown;
};
const primariesOfRedis: Identify = async ({ jobs: { redis } }) => {
  const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
  return Promise.all(nodes.map(async (node) => /run_id:(\w+)/.exec(await node.info('server'))?.[1]));
};

/** Waits under load until another primary serves, and creates succeed. */
function byOperator(name: string, what: string, command: string | undefined, identify: Identify): Fault[] {
  const inject = async (deployment: Deployment, load: Load): Promise<void> => {
    const before = JSON.stringify(await identify(deployment));
    if (!(await operate(what, command))) {
      skipped.add(name);
      return;
    }
    await eventually(async () => {
      if (JSON.stringify(await identify(deployment)) === before) throw new Error('the primary is the same as before');
    }, FAILED_OVER_WITHIN_MS);
    const since = Date.now();
    await eventually(() => {
      const succeeded = load.attempts.filter(({ at, status }) => status === 200 && at > since);
      if (succeeded.length < AFTER_FAILOVER) throw new Error(`${String(succeeded.length)} creates since then`);
    }, FAILED_OVER_WITHIN_MS);
  };
  return command === 'skip' ? [] : [{ name, inject, losesAccepted: true }];
}

const skipped = new Set<string>();
const { CERTIFY_FAIL_OVER_MONGODB: failOverMongodb, CERTIFY_FAIL_OVER_REDIS: failOverRedis } = process.env;
const STEPS: Fault[] = [
  { name: 'ordinary load', inject: () => Promise.resolve() },
  faults.createsCopied,
  faults.workerKilled,
  faults.allWorkersKilled,
  faults.workerStopped,
  faults.apiKilled,
  faults.rollingDeploy,
  ...byOperator('a failover of MongoDB', 'Make the primary of MongoDB step down', failOverMongodb, primaryOfMongodb),
  ...byOperator('a failover of Redis', 'Fail Redis over to a replica, or restart it', failOverRedis, primariesOfRedis),
];

describe('with the databases of this environment', () => {
  let stores: Stores;
  let database: Database;
  let redis: RedisConnection;
  /** Whether the database was empty. Otherwise its data must not be removed. */
  let isOurs = false;
  const survivals: [name: string, survival: Survival][] = [];

  beforeAll(async () => {
    stores = Stores.external({ mongodb, redis: redisUrl });
    database = await openDatabase({ MONGODB_URI: mongodb });
    redis = connectRedis(redisUrl, 'worker', () => undefined);
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
    const survival = await expectSurvived(stores, fault);
    survivals.push([skipped.has(fault.name) ? `${fault.name} (skipped)` : fault.name, survival]);
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
