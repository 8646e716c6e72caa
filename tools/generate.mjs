// `npm run --silent generate -- N [--seed S]`: prints listings for `npm run import`.
import './checkout/install.mjs';
import { Steps } from './steps.mjs';

const { buildIfNeeded } = await import('./checkout/build.mjs');
const { TERMINAL } = await import('./processes/child.mjs');
const { launch } = await import('./processes/launcher.mjs');
const { cliScript } = await import('./start/services.mjs');

await launch(new Steps(process.stderr), run, { exitCodeWhenStopped: 130 });

async function run(launcher) {
  await buildIfNeeded(launcher);
  const args = [cliScript('generate'), ...process.argv.slice(2)];
  const { exited } = launcher.start('generate', process.execPath, args, { ...TERMINAL, stdin: 'ignore' });
  return (await exited).code ?? 1;
}
