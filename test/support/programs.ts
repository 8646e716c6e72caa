import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Returns `describe` for tests that need a program, or `describe.skip` if it is not installed.
 *
 * @throws if it is not installed on a CI server (`CI` is set), where nobody would notice that tests are skipped
 */
export function describeIfInstalled(program: string, path: string | undefined): jest.Describe {
  if (path !== undefined) return describe;
  if (process.env['CI']) throw new Error(`${program} is not installed: its tests would be skipped`);
  return describe.skip;
}

/** Returns the path of the first of these programs that is on PATH, or undefined. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(existsSync);
}
