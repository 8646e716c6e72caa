import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StepError } from '../steps.mjs';

const WANTED = ['redis-server', 'redis-tools'];
// A second C library would break every program that is started with it.
const NEVER = new Set(['libc6', 'libc-bin']);

// The libraries are unpacked beside the program, where the dynamic linker does not search. `exec` keeps the pid.
const WRAPPER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
for folder in "$here"/root/usr/lib/*/ "$here"/root/lib/*/; do
  LD_LIBRARY_PATH="$folder\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
exec "$here/root/usr/bin/redis-server" "$@"
`;

/**
 * Downloads the distribution's package and the libraries that the system lacks. They are unpacked but not installed:
 * installing would leave a daemon on the user's machine. apt verifies downloads against its signed package lists.
 * @returns {import('./find-binary.mjs').Source}
 */
export function aptPackage() {
  return {
    title: 'from apt (redis-server)',
    folder: 'redis-server-apt',
    async fetch(target, { launcher }) {
      const names = [...new Set([...WANTED, ...(await missingLibraries(launcher))])];
      const parent = dirname(dirname(target));
      const bytes = await launcher.withTemporaryFolder(parent, (folder) =>
        unpack(launcher, names, folder, dirname(target)),
      );
      writeFileSync(target, WRAPPER);
      return `${names.length} packages, ${(bytes / 1e6).toFixed(1)} MB`;
    },
  };
}

async function unpack(launcher, names, folder, targetFolder) {
  await launcher.run('apt-get', ['download', ...names], { cwd: folder }).catch(explain);
  const packages = readdirSync(folder)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(folder, name));
  for (const file of packages) await launcher.run('dpkg-deb', ['-x', file, join(targetFolder, 'root')]);
  return packages.reduce((sum, file) => sum + statSync(file).size, 0);
}

/** Asks apt what it would install. It prints lines of `'URL' name_version_arch.deb size checksum`. */
async function missingLibraries(launcher) {
  const args = ['--print-uris', '--yes', '--no-install-recommends', 'install', ...WANTED];
  const plan = await launcher.run('apt-get', args).catch(explain);
  const names = plan.split('\n').map((line) => /^'\S+' ([^_\s]+)_/.exec(line)?.[1]);
  return names.filter((name) => name?.startsWith('lib') && !NEVER.has(name));
}

function explain(error) {
  const errorLine = error.details?.findLast((line) => line.startsWith('E: '));
  throw new StepError(errorLine?.slice(3) ?? error.message);
}
