import { StepError } from '../steps.mjs';

/**
 * Runs `--version` and returns the version. Throws if the program is built for another processor, lacks a library or is
 * too old. Otherwise this would only show when the database fails to start.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./start-databases.mjs').Database} database
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function versionOf(launcher, { title, versionPattern, minimum }, path) {
  const output = await launcher.run(path, ['--version']).catch((error) => {
    throw new StepError([error.message, ...error.details.slice(-1)].join(': '));
  });
  const version = versionPattern.exec(output)?.[1];
  if (version === undefined) throw new StepError(`${path} is not ${title}`);
  if (compareVersions(version, minimum) < 0) {
    throw new StepError(`${path} is ${version}, but ${minimum} or newer is needed`);
  }
  return version;
}

/** Compares two dotted version numbers, like `sort`. */
export function compareVersions(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
