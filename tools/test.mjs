// `npm test`: the test suite from a bare checkout, on databases of its own; further arguments are jest's.
// `REDIS_RELEASE=pinned npm run test:faults` takes the release that the launcher fetches, also where another is on PATH.
// `--no-databases` as the first of them leaves those and the build out, for unit tests.
import './node-version.mjs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfNeeded } from './checkout/build.mjs';
import { installIfNeeded } from './checkout/install.mjs';
import { ROOT } from './checkout/root.mjs';
import { runMongodb, runRedis } from './embedded/start-databases.mjs';
import { launch } from './processes/launcher.mjs';
import { anyFreePort } from './processes/ports.mjs';
import { Steps } from './steps.mjs';

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const INTERRUPTED = 130;
/** What runs when nothing else is said: `abuse` and `faults` take minutes. */
const PROJECTS = ['--selectProjects', 'unit', 'integration', 'system'];

const [first, ...rest] = process.argv.slice(2);
const withDatabases = first !== '--no-databases';
const asked = withDatabases ? process.argv.slice(2) : rest;
const jestArgs = asked.some((arg) => arg.startsWith('--selectProjects')) ? asked : [...asked, ...PROJECTS];

await launch(
  new Steps(),
  async (launcher) => {
    await installIfNeeded(launcher);
    if (withDatabases) await buildIfNeeded(launcher);
    const databases = withDatabases ? await startDatabases(launcher) : {};
    return runJest(launcher, databases);
  },
  { exitCodeWhenStopped: INTERRUPTED },
);

async function startDatabases(launcher) {
  const dataDir = launcher.temporaryFolder(tmpdir());
  const mongodb = await runMongodb(launcher, { dataDir, port: await anyFreePort() });
  const redis = await runRedis(launcher, { dataDir, port: await anyFreePort() });
  return {
    MONGODB_URI: mongodb.uri,
    REDIS_URL: redis.uri,
    MONGOD_BIN: mongodb.binary,
    REDIS_SERVER_BIN: redis.binary,
  };
}

async function runJest(launcher, databases) {
  // The MongoDB driver imports a module while it connects, which jest allows with this flag only.
  const nodeOptions = [process.env.NODE_OPTIONS, '--experimental-vm-modules', '--no-warnings']
    .filter(Boolean)
    .join(' ');
  const env = { ...process.env, ...databases, NODE_OPTIONS: nodeOptions };
  const terminal = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' };
  const jest = launcher.start('jest', process.execPath, [JEST, ...jestArgs], { ...terminal, env, cwd: ROOT });
  const { code } = await jest.exited;
  return code ?? 1;
}
