import { setTimeout as delay } from 'node:timers/promises';
import { buildIfNeeded } from '../checkout/build.mjs';
import { TERMINAL } from '../processes/child.mjs';
import { launch } from '../processes/launcher.mjs';
import { StepError, Steps } from '../steps.mjs';
import { tryRunLock } from './run-lock.mjs';
import { cliScript, runCli } from './services.mjs';
import { startLocalMongodb } from './stores.mjs';

const COULD_NOT_RUN = 2;
const INTERRUPTED = 130;
const POLL_INTERVAL_MS = 500;
// When stopped, the import stores its current batches and builds the search index: minutes in a large database.
const GRACE_MS = 3_600_000;

/** Runs the import with these arguments. Exits with its exit code. */
export async function runImport(args) {
  const codes = { exitCodeWhenStopped: INTERRUPTED, exitCodeOnFailure: COULD_NOT_RUN };
  await launch(
    new Steps(process.stderr),
    async (launcher) => {
      await buildIfNeeded(launcher);
      const env = { ...process.env, MONGODB_URI: process.env.MONGODB_URI || (await localMongodb(launcher)) };
      const options = { ...TERMINAL, env, graceMs: GRACE_MS };
      const child = launcher.start('import', process.execPath, [cliScript('import'), ...args], options);
      return (await child.exited).code ?? COULD_NOT_RUN;
    },
    codes,
  );
}

/** Returns the URI of the MongoDB of the run in this checkout. Without a run, starts MongoDB on the same data. */
async function localMongodb(launcher) {
  let { holder, record } = await tryRunLock(launcher);
  if (holder && !holder.url) launcher.steps.print(`Waiting for the run in this checkout (pid ${holder.pid})`);
  while (holder && !holder.url) {
    await delay(POLL_INTERVAL_MS);
    ({ holder, record } = await tryRunLock(launcher));
  }
  if (holder) return uriOf(holder);
  const uri = await startLocalMongodb(launcher);
  await launcher.steps.run('Set up the database', () =>
    runCli(launcher, 'setup', { ...process.env, MONGODB_URI: uri }),
  );
  return uri;
}

function uriOf({ pid, mongodbUri }) {
  if (mongodbUri) return mongodbUri;
  throw new StepError(`The run in this checkout (pid ${pid}) was started with its own MONGODB_URI`, {
    hint: 'set MONGODB_URI to the same value here',
  });
}
