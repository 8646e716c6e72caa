import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StepError } from '../steps.mjs';

const WANTED = ['redis-server', 'redis-tools'];
// A C library next to the system's own would break whatever is started with it.
const NEVER = new Set(['libc6', 'libc-bin']);

// The libraries lie next to the program, where the system does not look; `exec` keeps the process number.
const WRAPPER = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
for folder in "$here"/root/usr/lib/*/ "$here"/root/lib/*/; do
  LD_LIBRARY_PATH="$folder\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
exec "$here/root/usr/bin/redis-server" "$@"
`;

/**
 * The distribution's own package, with the libraries it needs and the system lacks, unpacked and never installed:
 * installing would leave a daemon on the user's machine. apt checks what it downloads against its signed lists.
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

/** What an installation would bring along, told without one: lines of `'address' name_version_arch.deb size checksum`. */
async function missingLibraries(launcher) {
  const args = ['--print-uris', '--yes', '--no-install-recommends', 'install', ...WANTED];
  const plan = await launcher.run('apt-get', args).catch(explain);
  const names = plan.split('\n').map((line) => /^'\S+' ([^_\s]+)_/.exec(line)?.[1]);
  return names.filter((name) => name?.startsWith('lib') && !NEVER.has(name));
}

function explain(error) {
  const complaint = error.details?.findLast((line) => line.startsWith('E: '));
  throw new StepError(complaint?.slice(3) ?? error.message);
}
