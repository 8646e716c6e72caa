// Tests docker-compose.yml with real containers, alongside whatever else runs on this machine, and then removes them.
import { randomUUID } from 'node:crypto';
import { Compose } from './compose.mjs';
import { Items } from './items.mjs';
import { scenario } from './scenario.mjs';
import { Checks, REQUIRED_CHECK_FAILED } from './checks.mjs';
import getPort from 'get-port';
import { StepError } from '../../tools/steps.mjs';

/** A fixed name, so that a run removes what a killed run has left behind. */
const PROJECT = 'item-listing-trial';

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM']) {
  process.once(name, () => interruption.abort(new StepError(`${name}: the test was interrupted`)));
}
const checks = new Checks(interruption.signal);
const { steps } = checks;

try {
  const port = await getPort();
  const ports = { PORT: String(port), ADMIN_PORT: String(await getPort()), PROMETHEUS_PORT: String(await getPort()) };
  const settings = { DEMO_CATALOGUE: 'on', CREATE_WAIT_MS: '10000', METRICS_TOKEN: randomUUID() };
  const env = { ...process.env, ...ports, ...settings };
  const compose = await Compose.find(PROJECT, env, interruption.signal);
  steps.print(`${compose.name}, project ${PROJECT}, port ${port}`);
  await compose.remove();
  try {
    await scenario(checks, compose, new Items(port, interruption.signal));
  } finally {
    if (checks.failed > 0) steps.print(await compose.run('logs', '--tail', '20').catch(() => 'no logs'));
    await steps.run('Take everything down, including volumes and images', () => compose.remove());
  }
} catch (error) {
  if (error !== REQUIRED_CHECK_FAILED) {
    checks.failed += 1;
    steps.fail(error);
  }
}
steps.print(`${checks.passed} passed, ${checks.failed} failed`);
process.exitCode = checks.failed > 0 ? 1 : 0;
