// Checks that no item is lost or duplicated with the databases of a staging environment:
//
//   npm run certify -- --mongodb URI --redis URI [--fail-over-mongodb COMMAND] [--fail-over-redis COMMAND]
//
// Without `--mongodb` and `--redis`, uses MONGODB_URI and REDIS_URL, which do not appear in the list of processes.
//
// Starts APIs and workers of its own, and ends nothing else. Asks you to fail the databases over, or runs the given
// commands; `skip` as a command skips a failover. The database of --mongodb must be empty. Its data is removed at the end.
import '../../tools/checkout/install.mjs';
import { parseArgs } from 'node:util';
import { ROOT } from '../../tools/checkout/root.mjs';
import { Steps, StepError } from '../../tools/steps.mjs';

const { buildIfNeeded } = await import('../../tools/checkout/build.mjs');
const { TERMINAL } = await import('../../tools/processes/child.mjs');
const { launch } = await import('../../tools/processes/launcher.mjs');
const USAGE = 'npm run certify -- --mongodb mongodb://HOST/EMPTY-DATABASE?replicaSet=NAME --redis redis://HOST';
const OPTIONS = {
  mongodb: { type: 'string' },
  redis: { type: 'string' },
  'fail-over-mongodb': { type: 'string' },
  'fail-over-redis': { type: 'string' },
};

await launch(new Steps(), certify);

async function certify(launcher) {
  const values = readArguments();
  const settings = Object.entries(values).map(([name, value]) => [
    `CERTIFY_${name.replaceAll('-', '_').toUpperCase()}`,
    value,
  ]);
  await buildIfNeeded(launcher);
  // Without CI, jest would show its progress, and erase the questions.
  const env = { ...process.env, ...Object.fromEntries(settings), CI: 'true' };
  const tests = ['tools/test.mjs', '--no-databases', '--project=certify'];
  const { exited } = launcher.start('tests', process.execPath, tests, { ...TERMINAL, env, cwd: ROOT });
  return (await exited).code ?? 1;
}

function readArguments() {
  let values;
  try {
    ({ values } = parseArgs({ options: OPTIONS }));
  } catch (error) {
    throw new StepError(error.message, { hint: USAGE });
  }
  const { MONGODB_URI: mongodb, REDIS_URL: redis } = process.env;
  const settings = { ...(mongodb && { mongodb }), ...(redis && { redis }), ...values };
  if (!settings.mongodb || !settings.redis)
    throw new StepError('--mongodb and --redis (or MONGODB_URI and REDIS_URL) are required', { hint: USAGE });
  return settings;
}
