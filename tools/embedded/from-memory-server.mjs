import { fileURLToPath } from 'node:url';
import { StepError } from '../steps.mjs';

const SCRIPT = fileURLToPath(new URL('./memory-server-download.mjs', import.meta.url));

/**
 * Downloads the vendor's build for this system with mongodb-memory-server. The installed version of that package
 * determines the release. The download is verified against the vendor's checksum.
 * @returns {import('./find-binary.mjs').Source}
 */
export function memoryServerDownload() {
  return {
    title: 'by mongodb-memory-server',
    folder: 'mongod-memory-server',
    async fetch(launcher, folder, name) {
      // In another process, because it prints its progress to stdout.
      const options = { cwd: folder, env: { ...process.env, npm_config_strict_ssl: 'true' } };
      await launcher.run(process.execPath, [SCRIPT, name], options).catch((error) => {
        throw new StepError(error.details.at(-1) ?? error.message);
      });
    },
  };
}
