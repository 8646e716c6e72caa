// Tests the Helm chart: lints it, renders it with several values, validates each manifest against the schemas of
// Kubernetes, KEDA and the Prometheus operator, and checks what the manifests promise. Needs no cluster.
import '../../tools/checkout/install.mjs';
import { Checks, REQUIRED_CHECK_FAILED } from '../compose/checks.mjs';

const { launch } = await import('../../tools/processes/launcher.mjs');
const { scenario } = await import('./scenario.mjs');

// The launcher handles signals.
const checks = new Checks(new AbortController().signal);
await launch(checks.steps, run);

async function run(launcher) {
  try {
    await scenario(launcher, checks);
  } catch (error) {
    if (error !== REQUIRED_CHECK_FAILED) {
      checks.failed += 1;
      checks.steps.fail(error);
    }
  }
  checks.steps.print(`${checks.passed} passed, ${checks.failed} failed`);
  return checks.failed > 0 ? 1 : 0;
}
