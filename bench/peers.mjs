import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { waitUntilReady } from '../tools/embedded/readiness.mjs';

const SOURCES = fileURLToPath(new URL('./peers/', import.meta.url));
const LIBS = ['contracts', 'database', 'items', 'runtime'];

/**
 * Compiles bench/peers into a folder in the checkout, where they can import its packages and, as `@app/…`, its built
 * libs.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @returns {Promise<string>} the folder
 */
export async function compilePeers(launcher) {
  const folder = launcher.temporaryFolder(LOCAL);
  for (const file of readdirSync(SOURCES)) {
    const { code } = await transformFile(join(SOURCES, file), { cwd: ROOT, sourceMaps: 'inline' });
    writeFileSync(join(folder, `${basename(file, '.ts')}.js`), code);
  }
  const scope = join(folder, 'node_modules', '@app');
  mkdirSync(scope, { recursive: true });
  for (const lib of LIBS) symlinkSync(join(ROOT, 'dist', 'libs', lib, 'src'), join(scope, lib));
  return folder;
}

/**
 * Starts one process of a peer and waits until it reports that it is ready.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {string} folder of the compiled peers
 * @param {string} name of its file
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} its pid
 */
export async function startPeer(launcher, folder, name, env) {
  let isReady = false;
  const onLine = (line) => {
    if (line === 'ready') isReady = true;
    else launcher.steps.print(`[${name}] ${line}`);
  };
  const child = launcher.start(name, process.execPath, [join(folder, `${name}.js`)], { env, cwd: ROOT, onLine });
  await waitUntilReady(child, async () => isReady);
  launcher.watch(child);
  return child.pid;
}
