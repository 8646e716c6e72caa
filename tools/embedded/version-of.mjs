import { StepError } from '../steps.mjs';

/**
 * Runs `--version` and returns the version. Throws if the program is built for another processor, lacks a library or is
 * too old. Otherwise this would only show when the database fails to start.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./specs.mjs').Spec} spec
 * @param {string} path
 * @returns {Promise<string>}
 */
export async function versionOf(launcher, spec, path) {
  const output = await launcher.run(path, ['--version']).catch((error) => {
    throw new StepError(`${path} does not run here: ${error.details?.at(-1) ?? error.message}`);
  });
  const version = spec.version.exec(output)?.[1];
  if (version === undefined) throw new StepError(`${path} is not ${spec.title}`);
  if (compareVersions(version, spec.minimum) < 0)
    throw new StepError(`${path} is ${version}, but ${spec.minimum} or newer is needed`);
  return version;
}

/** Compares two dotted version numbers. Can be passed to `sort`. */
export function compareVersions(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
