// `npm run import -- FILE`: imports into the database in MONGODB_URI or, if it is not set, that of `npm start`, which
// may be running.
import './checkout/install.mjs';
import { StepError, Steps } from './steps.mjs';

const { buildIfNeeded } = await import('./checkout/build.mjs');
const { runMongodb } = await import('./embedded/start-databases.mjs');
const { TERMINAL } = await import('./processes/child.mjs');
const { launch } = await import('./processes/launcher.mjs');
const { tryRunLock } = await import('./processes/lock.mjs');
const { cliScript, isSet, runCli } = await import('./start/services.mjs');

const COULD_NOT_RUN = 2;
// When stopped, the import stores its current batches and builds the search index: minutes in a large database.
const GRACE_MS = 3_600_000;

await launch(new Steps(process.stderr), run, { exitCodeOnFailure: COULD_NOT_RUN });

async function run(launcher) {
  await buildIfNeeded(launcher);
  const env = { ...process.env, ...(isSet('MONGODB_URI') ? {} : { MONGODB_URI: await localMongodb(launcher) }) };
  const args = [cliScript('import'), ...process.argv.slice(2)];
  const { exited } = launcher.start('import', process.execPath, args, { ...TERMINAL, env, graceMs: GRACE_MS });
  return (await exited).code ?? COULD_NOT_RUN;
}

/** Returns the URI of the MongoDB of the run in this checkout. Without a run, starts MongoDB on the same data. */
async function localMongodb(launcher) {
  const { holder } = await tryRunLock(launcher);
  if (holder?.mongodbUri) return holder.mongodbUri;
  if (holder) {
    throw new StepError(`The run in this checkout (pid ${holder.pid}) was started with its own MONGODB_URI`, {
      hint: 'set MONGODB_URI to the same value here',
    });
  }
  const { uri } = await runMongodb(launcher);
  await launcher.steps.run('Set up the database', () =>
    runCli(launcher, 'setup', { ...process.env, MONGODB_URI: uri }),
  );
  return uri;
}
