import { mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const PREFIX = '.item-listing-service-tmp-';

/** Makes a folder of our own inside `parent`. */
export function makeTemporaryFolder(parent) {
  return mkdtempSync(join(parent, PREFIX));
}

/** Removes such a folder with all that is in it, and refuses any other: a mistaken path must not cost anyone's data. */
export function removeTemporaryFolder(folder) {
  if (!basename(folder).startsWith(PREFIX)) throw new Error(`Not a temporary folder of ours: ${folder}`);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
