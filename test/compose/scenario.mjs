import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { OBSERVABILITY } from './compose.mjs';
import { unexpectedStates } from './containers.mjs';
import { createDuring, createMany, expectExactlyOnce, summary } from './creates.mjs';
import { expect, waitUntil } from './expect.mjs';

const WORKERS = 3;
const UP = ['up', '-d', '--scale', `worker=${WORKERS}`];
/** Without `--force-recreate`, only containers with another image are replaced. */
const REPLACE = ['up', '-d', '--no-deps', '--force-recreate'];
const REPLACE_WORKERS = [...REPLACE, '--scale', `worker=${WORKERS}`, 'worker'];
const CONCURRENCY = 200;
const WAITING_CREATES = 20;
const HEALTHY_WITHIN_MS = 180_000;
const SCRAPED_WITHIN_MS = 60_000;
const SCRAPED = ['item-listing-api', ...Array(WORKERS).fill('item-listing-worker')];
const DATA_SOURCE = join(ROOT, 'deploy/grafana/provisioning/datasources/prometheus.yml');

const HEALTHY = { mongo: ['healthy'], redis: ['healthy'], api: ['healthy'], worker: Array(WORKERS).fill('healthy') };
const DONE = { passwords: ['exit 0'], setup: ['exit 0'], demo: ['exit 0'] };
const STOPPED = Object.fromEntries(
  Object.entries(HEALTHY).map(([service, states]) => [service, states.map(() => 'exit 0')]),
);

/** Compose's `kill` signals all containers of a service; only `exec` can address a single one. */
const EXEC_IN_LAST_WORKER = ['exec', '-T', `--index=${WORKERS}`, 'worker', 'node', '-e'];
/** Kills every process but the container's init, which then exits too: to Docker, the container has crashed. */
const CRASH = "process.kill(-1, 'SIGKILL')";
const PRINT_START_TIME = "console.log(require('node:fs').readFileSync('/proc/1/stat', 'utf8').split(' ')[21])";

/** Prints the error with which MongoDB refuses a client that does not authenticate. */
const READ_WITHOUT_PASSWORD = `
  const { mongo } = require('mongoose');
  const client = new mongo.MongoClient('mongodb://mongo:27017/item-listing?replicaSet=rs0');
  client.db().collection('items').findOne().catch(({ codeName }) => console.log(codeName)).finally(() => client.close());
`;

/**
 * Takes a deployment from its first build to a restart after `down`, and checks it at each stage.
 * @param {import('./checks.mjs').Checks} checks
 * @param {import('./compose.mjs').Compose} compose
 * @param {import('./items.mjs').Items} items
 */
export async function scenario(checks, compose, items) {
  const stored = [];

  await checks.require('Build the images', () => compose.run('build'));
  await checks.require(`Start with ${WORKERS} workers`, () => compose.run(...UP));
  await checks.require('All services are healthy, setup and demo have exited with 0', () => waitUntilHealthy(compose));

  await checks.run('getAll returns demo listings', async () => {
    const { length } = await items.getAll({ pageSize: 100 });
    expect(length === 100, `The first page of 100 has ${length} items`);
  });

  await checks.run('create returns the item, getById and getAll find it', async () => {
    const [created] = await createMany(items, 1);
    expect(created.isStored, 'create did not return 200');
    const found = await items.getById(created.id);
    expect(found?.name === created.name, 'getById does not find it');
    await expectExactlyOnce(items, [created]);
    stored.push(created);
  });

  const missingImage = await compose.missingImage('prometheus');
  if (missingImage !== undefined) checks.steps.print(`Prometheus is not checked: no image ${missingImage} is here`);
  else {
    await checks.run('Prometheus scrapes the API and all workers, and Grafana would reach it', async () => {
      await compose.run(...OBSERVABILITY, 'up', '-d', '--no-deps', 'prometheus');
      try {
        await waitUntil(SCRAPED_WITHIN_MS, () => problemOfPrometheus(compose).catch(({ message }) => message));
      } finally {
        await compose.run(...OBSERVABILITY, 'rm', '--stop', '--force', 'prometheus');
      }
    });
  }

  await checks.run('MongoDB and Redis refuse clients without a password', async () => {
    const fromMongodb = await compose.run('exec', '-T', 'worker', 'node', '-e', READ_WITHOUT_PASSWORD);
    expect(fromMongodb.trim() === 'Unauthorized', `MongoDB replied ${fromMongodb}`);
    const files = await compose.run('exec', '-T', 'api', 'ls', '/run');
    expect(!files.includes('mongodb-admin'), 'The API can become an administrator of MongoDB');
    const fromRedis = await compose.run('exec', '-T', 'redis', 'redis-cli', 'ping');
    expect(fromRedis.startsWith('NOAUTH'), `Redis replied ${fromRedis}`);
  });

  await checks.run('docker inspect and the logs show no password', async () => {
    const ofService = await compose.run('exec', '-T', 'api', 'cat', '/run/stores/redis-url', '/run/stores/mongodb-uri');
    const ofAdmin = await compose.run('exec', '-T', 'mongo', 'cat', '/run/mongodb-admin/mongodb-admin-uri');
    const passwords = [ofService, ofAdmin].join().match(/[0-9a-f]{64}/g) ?? [];
    expect(passwords.length === 3, `Found ${passwords.length} passwords instead of 3`);
    const shown = [await compose.inspect(), await compose.run('logs')].join();
    expect(!passwords.some((password) => shown.includes(password)), 'A password is shown');
  });

  await checks.run(`${CONCURRENCY} creates at a time while one worker is killed and comes back`, async () => {
    const startTime = await startTimeOfLastWorker(compose);
    const creates = await createDuring(items, CONCURRENCY, compose.run(...EXEC_IN_LAST_WORKER, CRASH));
    stored.push(...creates);
    await expectExactlyOnce(items, creates);
    await waitUntilHealthy(compose);
    expect((await startTimeOfLastWorker(compose)) !== startTime, 'The worker to be killed is still running');
    checks.steps.print(summary(creates));
  });

  await checks.run(`${CONCURRENCY} creates at a time while an upgrade replaces the workers`, async () => {
    const startTime = await startTimeOfLastWorker(compose);
    await compose.run('run', '--rm', 'setup');
    const creates = await createDuring(items, CONCURRENCY, compose.run(...REPLACE_WORKERS));
    stored.push(...creates);
    await expectExactlyOnce(items, creates);
    expect((await startTimeOfLastWorker(compose)) !== startTime, 'The worker is still the same');
    await compose.run(...REPLACE, 'api');
    await waitUntilHealthy(compose);
    checks.steps.print(summary(creates));
  });

  await checks.run('stop: every container exits on its own with 0', async () => {
    await compose.run('stop');
    const wrong = unexpectedStates(await compose.containers(), { ...STOPPED, ...DONE });
    expect(wrong === undefined, wrong);
    await compose.run(...UP);
    await waitUntilHealthy(compose);
  });

  await checks.run('Creates that wait in Redis survive down and up', async () => {
    await compose.run('kill', 'worker');
    const creates = await createMany(items, WAITING_CREATES);
    expect(!creates.some(({ isStored }) => isStored), 'Creates returned 200 without a worker');
    await compose.run('down');
    await compose.run(...UP);
    await waitUntilHealthy(compose);
    await expectExactlyOnce(items, creates);
  });

  await checks.run('A copy of the volumes restores everything, also creates that wait in Redis', async () => {
    await compose.run('kill', 'worker');
    const creates = await createMany(items, WAITING_CREATES);
    const folder = await mkdtemp(join(tmpdir(), 'volumes-'));
    const archive = join(folder, 'volumes.tar.gz');
    try {
      await compose.run('stop');
      await compose.copyVolumes(archive);
      await compose.run('down', '--volumes');
      await compose.fillVolumes(archive);
    } finally {
      await rm(folder, { recursive: true });
    }
    await compose.run(...UP);
    await waitUntilHealthy(compose);
    await expectExactlyOnce(items, creates);
  });

  await checks.run('Everything created before is still there exactly once', async () => {
    await expectExactlyOnce(items, stored);
  });
}

async function waitUntilHealthy(compose) {
  await waitUntil(HEALTHY_WITHIN_MS, async () => unexpectedStates(await compose.containers(), { ...HEALTHY, ...DONE }));
}

/** Describes what is wrong with the targets and the rules of Prometheus, at the URL that Grafana uses. */
async function problemOfPrometheus(compose) {
  const [, url] = /url: (\S+)/.exec(readFileSync(DATA_SOURCE, 'utf8')) ?? [];
  const get = async (path) => {
    const request = ['exec', '-T', 'prometheus', 'wget', '-q', '-O', '-', `${url}/api/v1/${path}`];
    return JSON.parse(await compose.run(...OBSERVABILITY, ...request)).data;
  };
  const { activeTargets } = await get('targets');
  const down = activeTargets.find(({ health }) => health !== 'up');
  if (down !== undefined) return `${down.scrapeUrl} is ${down.health}: ${down.lastError}`;
  const scraped = activeTargets.map(({ labels }) => labels.job).sort();
  if (scraped.join() !== SCRAPED.join()) return `Prometheus scrapes ${scraped.join(', ') || 'nothing'}`;
  const rules = (await get('rules')).groups.flatMap((group) => group.rules);
  return rules.length > 0 && rules.every(({ health }) => health === 'ok') ? undefined : 'Rules are not evaluated';
}

function startTimeOfLastWorker(compose) {
  return compose.run(...EXEC_IN_LAST_WORKER, PRINT_START_TIME);
}
