import { mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const PREFIX = '.item-listing-service-tmp-';

/** Creates a temporary folder in `parent`. */
export function makeTemporaryFolder(parent) {
  return mkdtempSync(join(parent, PREFIX));
}

/** Removes a temporary folder and its contents. Rejects any other folder: a wrong path must not cost anyone's data. */
export function removeTemporaryFolder(folder) {
  if (!basename(folder).startsWith(PREFIX)) throw new Error(`Not a temporary folder of ours: ${folder}`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
