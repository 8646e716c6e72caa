import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { identify, isProcessRunning } from './identity.mjs';

const HALF_WRITTEN_MS = 500;

/** @typedef {import('./identity.mjs').Identity & Record<string, unknown>} Holder */

/**
 * Claims a resource with a file that names this process. The claim of a process that has died does not count.
 * @param {string} path
 * @returns {Promise<{holder: Holder} | {update: (details: object) => void, release: () => void, former?: Holder}>}
 * the running holder; or the claim: `update` replaces the details for others, `former` is the holder that died
 */
export async function claim(path) {
  const me = identify(process.pid);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let former;
  while (!create(path, me)) {
    const text = await readWhole(path);
    const holder = parse(text);
    if (holder && isProcessRunning(holder)) return { holder };
    former ??= holder;
    setAside(path, text);
  }
  return {
    former,
    update: (details) => replace(path, { ...details, ...me }),
    release: () => rmSync(path, { force: true }),
  };
}

function create(path, holder) {
  try {
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Waits for the writer to finish if the file is not complete yet: a new file is empty for an instant. */
async function readWhole(path) {
  const deadline = performance.now() + HALF_WRITTEN_MS;
  while (performance.now() < deadline) {
    const text = read(path);
    if (text === undefined || parse(text)) return text;
    await delay(20);
  }
  return read(path);
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Removes a dead claim. If another process has replaced it since it was read, the new one is restored. */
function setAside(path, text) {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (read(aside) === text) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

function replace(path, content) {
  const next = `${path}.${process.pid}`;
  writeFileSync(next, JSON.stringify(content));
  renameSync(next, path);
}
