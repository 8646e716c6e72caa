// `npm start`: everything on one machine, from a bare checkout to three lines to paste. Binds 127.0.0.1 only.
import './node-version.mjs';
import { buildIfNeeded } from './checkout/build.mjs';
import { installIfNeeded } from './checkout/install.mjs';
import { LOCAL } from './checkout/root.mjs';
import { runMongodb, runRedis } from './embedded/start-databases.mjs';
import { launch } from './processes/launcher.mjs';
import { reserveAskedPort, reservePort } from './processes/ports.mjs';
import { becomeOnlyRun } from './start/only-run.mjs';
import { runCommand, startService } from './start/services.mjs';
import { welcome } from './start/welcome.mjs';
import { Steps } from './steps.mjs';

const PORTS = { mongodb: 27_117, redis: 6479, api: 3000, worker: 3001 };
const DATABASE = 'item-listing';

await launch(new Steps(), async (launcher) => {
  const note = await becomeOnlyRun(launcher);
  const apiPort = await portFor(launcher, 'PORT', PORTS.api);
  const workerPort = await portFor(launcher, 'WORKER_PORT', PORTS.worker);
  await installIfNeeded(launcher);
  await buildIfNeeded(launcher);
  const databases = await startDatabases(launcher);
  note();
  const env = environment(databases, apiPort, workerPort);
  await launcher.steps.run('Set up the database', () => runCommand(launcher, 'setup', env));
  await launcher.steps.run('Load the demo catalogue once', () => runCommand(launcher, 'demo', env));
  await launcher.steps.run(`API on 127.0.0.1:${apiPort}, worker on 127.0.0.1:${workerPort}`, () =>
    Promise.all([startService(launcher, 'api', apiPort, env), startService(launcher, 'worker', workerPort, env)]),
  );
  note(`http://localhost:${apiPort}`);
  launcher.steps.say(await welcome(apiPort, workerPort));
  return launcher.ended;
});

async function startDatabases(launcher) {
  const { MONGODB_URI, REDIS_URL } = process.env;
  if (MONGODB_URI) launcher.steps.say('MongoDB is the one in MONGODB_URI');
  if (REDIS_URL) launcher.steps.say('Redis is the one in REDIS_URL');
  return {
    MONGODB_URI: MONGODB_URI || (await embedded(launcher, runMongodb, PORTS.mongodb)),
    REDIS_URL: REDIS_URL || (await embedded(launcher, runRedis, PORTS.redis)),
  };
}

async function embedded(launcher, run, preferredPort) {
  const { uri } = await run(launcher, {
    dataDir: LOCAL,
    port: await reservePort(launcher, preferredPort),
    database: DATABASE,
  });
  return uri;
}

/** A port that was asked for is taken or refused; else the usual one, or the next. */
function portFor(launcher, variable, usual) {
  return process.env[variable] ? reserveAskedPort(launcher, variable) : reservePort(launcher, usual);
}

function environment(databases, apiPort, workerPort) {
  return {
    LOG_LEVEL: 'warn', // The terminal stays readable.
    PUBLIC_SITE_URL: `http://localhost:${apiPort}`,
    ...process.env,
    ...databases,
    HOST: '127.0.0.1',
    PORT: String(apiPort),
    WORKER_PORT: String(workerPort),
  };
}
