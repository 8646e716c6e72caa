// `npm run import -- FILE`: imports into the database in MONGODB_URI or, if it is not set, that of `npm start`, which
// may be running.
import './node-version.mjs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildIfNeeded } from './checkout/build.mjs';
import { installIfNeeded } from './checkout/install.mjs';
import { ROOT } from './checkout/root.mjs';
import { launch } from './processes/launcher.mjs';
import { tryRunLock } from './start/run-lock.mjs';
import { runCli } from './start/services.mjs';
import { startLocalMongodb } from './start/stores.mjs';
import { StepError, Steps } from './steps.mjs';

const COULD_NOT_RUN = 2;
const INTERRUPTED = 130;
const POLL_INTERVAL_MS = 500;
// When stopped, the import stores its current batches and builds the search index: minutes in a large database.
const IMPORT_GRACE_MS = 3_600_000;

await launch(new Steps(process.stderr), (launcher) => run(launcher).catch((error) => fail(launcher, error)), {
  exitCodeWhenStopped: INTERRUPTED,
});

async function run(launcher) {
  await installIfNeeded(launcher);
  await buildIfNeeded(launcher);
  const env = { ...process.env, MONGODB_URI: process.env.MONGODB_URI || (await localMongodb(launcher)) };
  const script = join(ROOT, 'dist', 'apps', 'cli', 'src', 'import.js');
  const terminal = { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' };
  const options = { ...terminal, env, graceMs: IMPORT_GRACE_MS };
  const child = launcher.start('import', process.execPath, [script, ...process.argv.slice(2)], options);
  return (await child.exited).code ?? COULD_NOT_RUN;
}

function fail(launcher, error) {
  launcher.steps.interrupt();
  launcher.steps.fail(error);
  return COULD_NOT_RUN;
}

/** Returns the URI of the MongoDB of the run in this checkout. Without a run, starts MongoDB on the same data. */
async function localMongodb(launcher) {
  let found = await tryRunLock(launcher);
  if (found.holder && !found.holder.url) {
    launcher.steps.print(`Waiting for the run in this checkout (pid ${found.holder.pid})`);
  }
  while (found.holder && !found.holder.url) {
    await delay(POLL_INTERVAL_MS);
    found = await tryRunLock(launcher);
  }
  if (found.holder) return uriOf(found.holder);
  const uri = await startLocalMongodb(launcher);
  found.record();
  const env = { ...process.env, MONGODB_URI: uri };
  await launcher.steps.run('Set up the database', () => runCli(launcher, 'setup', env));
  return uri;
}

function uriOf({ pid, mongodbUri }) {
  if (mongodbUri) return mongodbUri;
  throw new StepError(`The run in this checkout (pid ${pid}) was started with its own MONGODB_URI`, {
    hint: 'set MONGODB_URI to the same value here',
  });
}
