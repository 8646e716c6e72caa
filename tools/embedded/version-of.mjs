import { StepError } from '../steps.mjs';

/**
 * Runs `--version`: a program that is built for another processor, lacks a library or is too old is found out here
 * rather than by a database that does not start.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./specs.mjs').Spec} spec
 * @param {string} path
 * @returns {Promise<string>} the version
 */
export async function versionOf(launcher, spec, path) {
  const output = await launcher.run(path, ['--version']).catch((error) => {
    throw new StepError(`${path} does not run here: ${error.details?.at(-1) ?? error.message}`);
  });
  const version = spec.version.exec(output)?.[1];
  if (version === undefined) throw new StepError(`${path} is no ${spec.title}`);
  if (compareVersions(version, spec.minimum) < 0)
    throw new StepError(`${path} is ${version}, needed is ${spec.minimum}`);
  return version;
}

/** Compares dotted numbers, as a sort does. */
export function compareVersions(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}
