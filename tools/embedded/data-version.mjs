import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StepError } from '../steps.mjs';
import { compareVersions } from './version-of.mjs';

const FILE = 'written-by-version';

/**
 * Throws if a newer release wrote the data: an older MongoDB would not start, and an older Redis would not see it.
 * @param {string} dataDir
 * @param {string} title
 * @param {string} version of the program about to be started
 */
export function requireReadableData(dataDir, title, version) {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) return;
  const writtenBy = readFileSync(file, 'utf8').trim();
  if (compareVersions(series(version), series(writtenBy)) >= 0) return;
  throw new StepError(`The data in ${dataDir} was written by ${title} ${writtenBy}, but this is ${version}`, {
    hint: `put ${title} ${series(writtenBy)} or newer on PATH, or delete that folder to start afresh`,
  });
}

/** Records the release that writes the data from now on. Call it once the release has started. */
export function recordDataVersion(dataDir, version) {
  writeFileSync(join(dataDir, FILE), `${version}\n`);
}

function series(version) {
  return version.split('.').slice(0, 2).join('.');
}
