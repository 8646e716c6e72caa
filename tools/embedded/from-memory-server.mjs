import { dirname } from 'node:path';
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
    async fetch(target, { launcher, step }) {
      await launcher.withTemporaryFolder(dirname(dirname(target)), (folder) =>
        download(launcher, step, target, folder),
      );
      return 'checked against its published checksum';
    },
  };
}

/** Downloads in a child process, which prints its own progress and can be stopped midway. */
async function download(launcher, step, target, folder) {
  const stdout = step.handOver();
  const options = stdout === undefined ? {} : { stdout };
  await launcher.run(process.execPath, [SCRIPT, target, folder], options).catch((error) => {
    throw new StepError(error.details.at(-1) ?? error.message);
  });
}
