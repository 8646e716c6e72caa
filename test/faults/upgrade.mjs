// Tests an upgrade from an earlier release under load: `npm run test:upgrade [-- REF]`. REF is a commit or a tag, by default
// the newest tag. Builds it in a worktree in .local, which the next run reuses.
import '../../tools/checkout/install.mjs';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL, ROOT } from '../../tools/checkout/root.mjs';
import { Steps, StepError } from '../../tools/steps.mjs';

const { launch } = await import('../../tools/processes/launcher.mjs');
const { TERMINAL } = await import('../../tools/processes/child.mjs');
const TESTS = [join(ROOT, 'tools', 'test.mjs'), '--project=upgrade'];
const [wanted] = process.argv.slice(2);

await launch(new Steps(), async (launcher) => {
  const git = (...args) => launcher.run('git', args, { name: 'git', cwd: ROOT });
  const npm = (folder, ...args) => launcher.run('npm', args, { name: 'npm', cwd: folder });
  const ref = wanted ?? (await newestTag(git));
  const commit = (await git('rev-parse', '--short', `${ref}^{commit}`)).trim();
  const folder = join(LOCAL, `release-${commit}`);
  if (!existsSync(join(folder, 'dist', 'apps', 'api', 'src', 'main.js'))) {
    await launcher.steps.run(`Build ${ref} (${commit})`, async () => {
      await git('worktree', 'prune');
      if (!existsSync(folder)) await git('worktree', 'add', '--detach', folder, commit);
      await npm(folder, 'ci');
      await npm(folder, 'run', 'build');
    });
  }
  const env = { ...process.env, PREVIOUS_RELEASE: folder };
  const { exited } = launcher.start('tests', process.execPath, TESTS, { ...TERMINAL, env, cwd: ROOT });
  return (await exited).code ?? 1;
});

async function newestTag(git) {
  try {
    return (await git('describe', '--tags', '--abbrev=0')).trim();
  } catch {
    throw new StepError('There is no release yet', { hint: 'name a commit: npm run test:upgrade -- COMMIT' });
  }
}
