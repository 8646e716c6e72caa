// `npm run --silent generate -- N [--seed S]`: prints listings for `npm run import`.
import './node-version.mjs';
import { join } from 'node:path';
import { buildIfNeeded } from './checkout/build.mjs';
import { installIfNeeded } from './checkout/install.mjs';
import { ROOT } from './checkout/root.mjs';
import { launch } from './processes/launcher.mjs';
import { Steps } from './steps.mjs';

await launch(
  new Steps(process.stderr),
  async (launcher) => {
    await installIfNeeded(launcher);
    await buildIfNeeded(launcher);
    const script = join(ROOT, 'dist', 'apps', 'cli', 'src', 'generate.js');
    const terminal = { stdout: 'inherit', stderr: 'inherit' };
    const child = launcher.start('generate', process.execPath, [script, ...process.argv.slice(2)], terminal);
    return (await child.exited).code ?? 1;
  },
  { exitCodeWhenStopped: 130 },
);
