import { buildIfNeeded } from '../checkout/build.mjs';
import { launch } from '../processes/launcher.mjs';
import { reserveRequestedPort, reservePort } from '../processes/ports.mjs';
import { StepError, Steps } from '../steps.mjs';
import { tryRunLock } from './run-lock.mjs';
import { runCli, startService } from './services.mjs';
import { startLocalMongodb, startLocalRedis } from './stores.mjs';
import { welcome } from './welcome.mjs';

const PORTS = { api: 3000, worker: 3001 };

/** Runs the service with its databases until it is told to stop. */
export async function run() {
  await launch(new Steps(), async (launcher) => {
    const { holder, record } = await tryRunLock(launcher);
    if (holder) throw new StepError(`Already running here, pid ${holder.pid}, ${holder.url ?? 'just starting'}`);
    const apiPort = await portFor(launcher, 'PORT', PORTS.api);
    const workerPort = await portFor(launcher, 'WORKER_PORT', PORTS.worker);
    await buildIfNeeded(launcher);
    const databases = await startDatabases(launcher);
    const env = environment(databases, apiPort, workerPort);
    await launcher.steps.run('Set up the database', () => runCli(launcher, 'setup', env));
    await launcher.steps.run('Load the demo catalogue once', () => runCli(launcher, 'demo', env));
    await launcher.steps.run(`API on 127.0.0.1:${apiPort}, worker on 127.0.0.1:${workerPort}`, () =>
      Promise.all([startService(launcher, 'api', apiPort, env), startService(launcher, 'worker', workerPort, env)]),
    );
    // A URI from the environment may contain a password, so it is not recorded: other tools need MONGODB_URI as well.
    const mongodbUri = process.env.MONGODB_URI ? undefined : databases.MONGODB_URI;
    record({ url: `http://localhost:${apiPort}`, mongodbUri });
    launcher.steps.print(await welcome(apiPort, workerPort));
    return launcher.ended;
  });
}

async function startDatabases(launcher) {
  const { MONGODB_URI, REDIS_URL } = process.env;
  if (MONGODB_URI) launcher.steps.print('Using the MongoDB in MONGODB_URI');
  if (REDIS_URL) launcher.steps.print('Using the Redis in REDIS_URL');
  return {
    MONGODB_URI: MONGODB_URI || (await startLocalMongodb(launcher)),
    REDIS_URL: REDIS_URL || (await startLocalRedis(launcher)),
  };
}

/** Reserves the port in the variable, or throws. If it is not set, reserves the usual port or the next free one. */
function portFor(launcher, variable, usual) {
  return process.env[variable] ? reserveRequestedPort(launcher, variable) : reservePort(launcher, usual);
}

function environment(databases, apiPort, workerPort) {
  return {
    LOG_LEVEL: 'warn', // Keeps the terminal readable.
    PUBLIC_SITE_URL: `http://localhost:${apiPort}`,
    ...process.env,
    ...databases,
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    WORKER_PORT: String(workerPort),
  };
}
