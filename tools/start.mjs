// `npm start`: runs everything on one machine, from a bare checkout to example commands. Binds 127.0.0.1 only.
import './checkout/install.mjs';
import { StepError, Steps } from './steps.mjs';

const { buildIfNeeded } = await import('./checkout/build.mjs');
const { runMongodb, runRedis } = await import('./embedded/start-databases.mjs');
const { launch } = await import('./processes/launcher.mjs');
const { tryRunLock } = await import('./processes/lock.mjs');
const { reservePort } = await import('./processes/ports.mjs');
const { isSet, runCli, startService } = await import('./start/services.mjs');
const { welcome } = await import('./start/welcome.mjs');

const PORTS = { api: 3000, worker: 3001, admin: 3002 };

await launch(new Steps(), run, { exitCodeWhenStopped: 0 });

async function run(launcher) {
  const { holder, record } = await tryRunLock(launcher);
  if (holder) throw new StepError(`Already running here, pid ${holder.pid}, ${holder.url}`);
  const apiPort = await reservePort(launcher, PORTS.api, 'PORT');
  const workerPort = await reservePort(launcher, PORTS.worker, 'WORKER_PORT');
  const adminPort = await reservePort(launcher, PORTS.admin, 'ADMIN_PORT');
  await buildIfNeeded(launcher);
  const databases = await startDatabases(launcher);
  const env = environment(databases, { apiPort, workerPort, adminPort });
  await launcher.steps.run('Set up the database', () => runCli(launcher, 'setup', env));
  await launcher.steps.run('Load the demo catalogue once', () => runCli(launcher, 'demo', env));
  await launcher.steps.run(`API on 127.0.0.1:${apiPort}, worker on 127.0.0.1:${workerPort}`, () =>
    Promise.all([startService(launcher, 'api', apiPort, env), startService(launcher, 'worker', workerPort, env)]),
  );
  // A URI from the environment may contain a password, so it is not recorded: other tools need MONGODB_URI as well.
  record({ url: `http://localhost:${apiPort}`, mongodbUri: databases.MONGODB_URI });
  launcher.steps.print(await welcome(apiPort, adminPort, databases));
  return launcher.ended;
}

/** Starts the databases that the environment does not name. Returns their addresses. */
async function startDatabases(launcher) {
  const databases = {};
  if (isSet('MONGODB_URI')) launcher.steps.print('Using the MongoDB in MONGODB_URI');
  else databases.MONGODB_URI = (await runMongodb(launcher)).uri;
  if (isSet('REDIS_URL')) launcher.steps.print('Using the Redis in REDIS_URL');
  else databases.REDIS_URL = (await runRedis(launcher)).uri;
  return databases;
}

function environment(databases, { apiPort, workerPort, adminPort }) {
  // An empty variable counts as missing.
  const given = Object.entries(process.env).filter(([, value]) => value !== '');
  return {
    LOG_LEVEL: 'warn', // Keeps the terminal readable.
    PUBLIC_SITE_URL: `http://localhost:${apiPort}`,
    ...Object.fromEntries(given),
    ...databases,
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    WORKER_PORT: String(workerPort),
    ADMIN_PORT: String(adminPort),
  };
}
