// `npm test`: runs the tests from a bare checkout, on their own databases. Further arguments are passed to jest.
// `--project=NAME` runs one kind of test (jest.config.mjs). It may be repeated.
// `--no-databases` skips the databases and the build, for unit tests.
// `REDIS_RELEASE=pinned npm run test:faults` uses the release that the launcher fetches, even if another is on PATH.
import './checkout/install.mjs';
import { join } from 'node:path';
import { ROOT } from './checkout/root.mjs';
import { Steps } from './steps.mjs';

const { buildIfNeeded } = await import('./checkout/build.mjs');
const { runDatabases } = await import('./embedded/start-databases.mjs');
const { TERMINAL } = await import('./processes/child.mjs');
const { launch } = await import('./processes/launcher.mjs');

const JEST = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
/** Reduce the CPU time of garbage collection in jest and its workers, which load modules anew for each file. */
const V8_OPTIONS = ['--max-semi-space-size=64', '--single-threaded-gc'];
/** Run by default. The other kinds of tests take longer, and have commands of their own. */
const PROJECTS = ['unit', 'integration', 'system', 'nest'];
const PROJECT = '--project=';
const NO_DATABASES = '--no-databases';

await launch(new Steps(), run);

async function run(launcher) {
  if (process.argv.includes(NO_DATABASES)) return runJest(launcher, {});
  await buildIfNeeded(launcher);
  return runJest(launcher, await startDatabases(launcher));
}

async function startDatabases(launcher) {
  const { mongodb, redis } = await runDatabases(launcher);
  return { MONGODB_URI: mongodb.uri, REDIS_URL: redis.uri, MONGOD_BIN: mongodb.binary, REDIS_SERVER_BIN: redis.binary };
}

async function runJest(launcher, databases) {
  const args = process.argv.slice(2).filter((arg) => arg !== NO_DATABASES);
  const [projects, requested] = [true, false].map((is) => args.filter((arg) => arg.startsWith(PROJECT) === is));
  const names = projects.length > 0 ? projects.map((arg) => arg.slice(PROJECT.length)) : PROJECTS;
  // Last, because jest would take file names that follow for names of projects.
  const jestArguments = [...V8_OPTIONS, JEST, ...requested, '--selectProjects', ...names];
  // The MongoDB driver imports a module dynamically while it connects, which jest supports only with this flag.
  const nodeOptions = [process.env.NODE_OPTIONS, '--experimental-vm-modules', '--no-warnings'].filter(Boolean);
  const env = { ...process.env, ...databases, NODE_OPTIONS: nodeOptions.join(' ') };
  const options = { ...TERMINAL, env, cwd: ROOT };
  const { exited } = launcher.start('jest', process.execPath, jestArguments, options);
  return (await exited).code ?? 1;
}
