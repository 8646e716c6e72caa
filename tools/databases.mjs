// Starts MongoDB and Redis for development: `node tools/databases.mjs [--data DIR] [--until-stdin-closes]`.
// Prints one line of JSON with their addresses to stdout, and progress to stderr.
import './checkout/install.mjs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Steps } from './steps.mjs';

const { runDatabases } = await import('./embedded/start-databases.mjs');
const { launch } = await import('./processes/launcher.mjs');

const { values: options } = parseArgs({
  options: { data: { type: 'string' }, 'until-stdin-closes': { type: 'boolean', default: false } },
});

await launch(new Steps(process.stderr), run, { exitCodeWhenStopped: 0 });

async function run(launcher) {
  if (options['until-stdin-closes']) process.stdin.on('close', () => launcher.finish(0)).resume();
  const { mongodb, redis } = await runDatabases(launcher, options.data && resolve(options.data));
  console.log(
    JSON.stringify({
      mongodbUri: mongodb.uri,
      redisUrl: redis.uri,
      mongodbPid: mongodb.pid,
      redisPid: redis.pid,
      mongodBin: mongodb.binary,
      redisServerBin: redis.binary,
    }),
  );
  return launcher.ended;
}
