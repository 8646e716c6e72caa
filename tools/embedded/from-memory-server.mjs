import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../checkout/root.mjs';

/** Run in another process, because it prints its progress to stdout. The last line is the path of the program. */
const DOWNLOAD = `
  import { MongoBinary } from 'mongodb-memory-server-core';
  await MongoBinary.getPath().then(console.log, ({ message }) => { console.error(message); process.exit(1); });
`;

/**
 * Downloads the vendor's build for this system with mongodb-memory-server. The installed version of that package
 * determines the release. The download is verified against the vendor's checksum.
 * @see https://typegoose.github.io/mongodb-memory-server/docs/api/config-options
 */
export const MEMORY_SERVER = {
  title: 'by mongodb-memory-server',
  folder: 'mongod-memory-server',
  async fetch(launcher, folder, name) {
    const downloadDir = join(folder, 'download');
    const config = { MONGOMS_DOWNLOAD_DIR: downloadDir, MONGOMS_MD5_CHECK: 'true', npm_config_strict_ssl: 'true' };
    const options = { name: 'download', cwd: ROOT, env: { ...process.env, ...config } };
    const output = await launcher.run(process.execPath, ['--input-type=module', '--eval', DOWNLOAD], options);
    copyFileSync(output.split('\n').at(-1), join(folder, name));
    rmSync(downloadDir, { recursive: true, force: true });
  },
};
