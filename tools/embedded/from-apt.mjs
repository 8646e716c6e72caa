import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';

// A second C library would break every program that is started with it.
const WANTED = /^'\S+' (redis-server|redis-tools|lib(?!c6_|c-bin_)[^_\s]*)_/gm;

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
    async fetch(launcher, folder, name) {
      // Prints lines of `'URL' name_version_arch.deb size checksum`.
      const plan = await apt(launcher, ['--print-uris', '--yes', '--no-install-recommends', 'install', 'redis-server']);
      const packages = [...plan.matchAll(WANTED)].map(([, wanted]) => wanted);
      await apt(launcher, ['download', ...packages], { cwd: folder });
      for (const file of readdirSync(folder)) {
        await launcher.run('dpkg-deb', ['-x', file, 'root'], { cwd: folder });
        rmSync(join(folder, file));
      }
      writeFileSync(join(folder, name), WRAPPER);
    },
  };
}

async function apt(launcher, args, options) {
  return launcher.run('apt-get', args, options).catch((error) => {
    const line = error.details.findLast((each) => each.startsWith('E: '));
    throw new StepError(line?.slice(3) ?? error.message);
  });
}
