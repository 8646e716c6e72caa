import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { StepError } from '../steps.mjs';
import { fromCache, installIntoCache } from './cache.mjs';
import { versionOf } from './version-of.mjs';

/**
 * A place to get a program from.
 * @typedef {object} Source
 * @property {string} title what follows the program's name in messages
 * @property {string} folder its folder in the cache; contains the release if the source pins one
 * @property {(target: string, context: {launcher: import('../processes/launcher.mjs').Launcher, step: object}) =>
 *   Promise<string | void>} fetch writes the program to `target`; may resolve to a description of the download
 */

/**
 * Finds a program that runs on this machine: on PATH, in the cache, or from the first source that works. PATH is
 * skipped if the spec's variable is `pinned`, so that tests can run on a known release, whatever is installed.
 * @param {import('../processes/launcher.mjs').Launcher} launcher
 * @param {import('./specs.mjs').Spec} spec
 * @returns {Promise<{path: string, version: string}>}
 */
export async function findBinary(launcher, spec) {
  const { steps } = launcher;
  const isPinned = process.env[spec.variable] === 'pinned';
  const onPath = !isPinned && (await steps.attempt(`${spec.name} on PATH`, (step) => fromPath(launcher, spec, step)));
  if (onPath) return onPath;
  const cached = await steps.attempt(`${spec.name} in the cache`, (step) => fromCache(launcher, spec, step));
  if (cached) return cached;
  for (const source of spec.sources) {
    const title = `${spec.name} ${source.title}`;
    const found = await steps.attempt(title, (step) => installIntoCache(launcher, spec, source, step));
    if (found) return found;
  }
  throw new StepError(`No ${spec.title} could be found or fetched`, { hint: spec.hint });
}

async function fromPath(launcher, spec, step) {
  const paths = spec.programs.map(which).filter((path) => path !== undefined);
  const reasons = [];
  for (const path of paths) {
    try {
      const version = await versionOf(launcher, spec, path);
      step.outcome = `${spec.name} on PATH: ${path}, ${version}`;
      return { path, version };
    } catch (error) {
      reasons.push(error.message);
    }
  }
  throw new StepError(reasons.join('; ') || 'none');
}

/** Returns the file that a shell would run for this name. */
function which(program) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
