import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAMS = ['redis-server', 'redis-tools'];
// A second C library would break every program that is started with it.
const LIBRARIES = /^'\S+' (lib(?!c6_|c-bin_)[^_\s]+)_/gm;

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
 */
export const APT_PACKAGE = {
  title: 'from apt (redis-server)',
  folder: 'redis-server-apt',
  async fetch(launcher, folder, name) {
    // Prints lines of `'URL' name_version_arch.deb size checksum`.
    const install = ['--print-uris', '--yes', '--no-install-recommends', 'install', ...PROGRAMS];
    const plan = await launcher.run('apt-get', install);
    const missing = [...plan.matchAll(LIBRARIES)].map(([, library]) => library);
    await launcher.run('apt-get', ['download', ...PROGRAMS, ...missing], { cwd: folder });
    for (const file of readdirSync(folder)) {
      await launcher.run('dpkg-deb', ['-x', file, 'root'], { cwd: folder });
      rmSync(join(folder, file));
    }
    writeFileSync(join(folder, name), WRAPPER);
  },
};
