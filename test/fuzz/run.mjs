// `npm run test:fuzz`: schemathesis sends the service requests that its OpenAPI document allows, and others that it
// does not. `--short` sends a few hundred, always the same. Further arguments are passed to `schemathesis run`, such as
// `--seed 5`.
import '../../tools/checkout/install.mjs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../tools/checkout/root.mjs';
import { Steps } from '../../tools/steps.mjs';

const { buildIfNeeded } = await import('../../tools/checkout/build.mjs');
const { runMongodb, runRedis } = await import('../../tools/embedded/start-databases.mjs');
const { TERMINAL } = await import('../../tools/processes/child.mjs');
const { launch } = await import('../../tools/processes/launcher.mjs');
const { runCli, startService } = await import('../../tools/start/services.mjs');
const { default: getPort } = await import('get-port');
const { installSchemathesis } = await import('./schemathesis.mjs');

/** Cases of each kind per operation: 4,000 to 6,000 requests in all, or about 500 with `--short`. */
const LONG = ['--max-examples', '500'];
const SHORT = ['--max-examples', '40', '--generation-deterministic'];

const [first, ...rest] = process.argv.slice(2);
const args = first === '--short' ? [...SHORT, ...rest] : [...LONG, ...process.argv.slice(2)];

await launch(new Steps(), async (launcher) => {
  await buildIfNeeded(launcher);
  const schemathesis = await installSchemathesis(launcher);
  const base = await startEverything(launcher);
  return fuzz(launcher, schemathesis, base);
});

async function startEverything(launcher) {
  const dataDir = launcher.temporaryFolder(tmpdir());
  const mongodb = await runMongodb(launcher, { dataDir, database: 'fuzz' });
  const redis = await runRedis(launcher, { dataDir });
  const [port, workerPort] = [await getPort(), await getPort()];
  const env = {
    PATH: process.env.PATH,
    MONGODB_URI: mongodb.uri,
    REDIS_URL: redis.uri,
    HOST: '127.0.0.1',
    PORT: String(port),
    WORKER_PORT: String(workerPort),
    LOG_LEVEL: 'warn',
  };
  await launcher.steps.run('Set up the database', () => runCli(launcher, 'setup', env));
  await launcher.steps.run('API and worker', () =>
    Promise.all([startService(launcher, 'api', port, env), startService(launcher, 'worker', workerPort, env)]),
  );
  return `http://127.0.0.1:${port}`;
}

async function fuzz(launcher, { command, env }, base) {
  const config = join(ROOT, 'test', 'fuzz', 'schemathesis.toml');
  const [program, ...before] = command;
  const run = ['--config-file', config, 'run', `${base}/openapi.json`, '--continue-on-failure', ...args];
  // schemathesis writes files to the working directory.
  const cwd = launcher.temporaryFolder(tmpdir());
  const child = launcher.start('schemathesis', program, [...before, ...run], { ...TERMINAL, env, cwd });
  const { code } = await child.exited;
  return code ?? 1;
}
