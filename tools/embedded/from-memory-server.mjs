import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StepError } from '../steps.mjs';

const SCRIPT = fileURLToPath(new URL('./memory-server-download.mjs', import.meta.url));

/**
 * The vendor's own build for this system, fetched by mongodb-memory-server: its release is the one that the
 * installed version of that package names, checked against the vendor's checksum.
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

/** In a process of its own: it prints as it likes, and can be stopped in the middle. */
async function download(launcher, step, target, folder) {
  const stdout = step.handOver();
  const options = stdout === undefined ? {} : { stdout };
  await launcher.run(process.execPath, [SCRIPT, target, folder], options).catch((error) => {
    throw new StepError(error.details.at(-1) ?? error.message);
  });
}
