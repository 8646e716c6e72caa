import { randomInt } from 'node:crypto';
import { expect, waitUntil } from './expect.mjs';

const LISTED_WITHIN_MS = 60_000;

/** @typedef {Awaited<ReturnType<import('./items.mjs').Items['create']>> & {word: string}} Create */

/**
 * Creates `count` items concurrently.
 * @param {import('./items.mjs').Items} items
 * @returns {Promise<Create[]>}
 */
export function createMany(items, count) {
  const word = newWord();
  return Promise.all(Array.from({ length: count }, (_, index) => create(items, word, index + 1)));
}

/**
 * Creates items, `atATime` concurrently, until the task has settled, and no fewer than `atATime` in all.
 * @param {import('./items.mjs').Items} items
 * @param {number} atATime
 * @param {Promise<unknown>} task may reject: the caller checks its effect
 * @returns {Promise<Create[]>}
 */
export async function createDuring(items, atATime, task) {
  const word = newWord();
  const creates = [];
  let started = 0;
  let isOver = false;
  const over = task.catch(() => undefined).finally(() => (isOver = true));
  const client = async () => {
    do creates.push(await create(items, word, (started += 1)));
    while (!isOver);
  };
  await Promise.all([over, ...Array.from({ length: atATime }, client)]);
  return creates;
}

/**
 * Waits until the created items are listed. Throws unless each is listed exactly once, and nothing else is found by
 * their search words.
 * @param {import('./items.mjs').Items} items
 * @param {Create[]} creates
 */
export async function expectExactlyOnce(items, creates) {
  const wanted = creates.map(identity);
  let listed = [];
  await waitUntil(LISTED_WITHIN_MS, async () => {
    listed = [];
    for (const word of new Set(creates.map((created) => created.word))) listed.push(...(await items.search(word)));
    const found = new Set(listed.map(identity));
    const missing = wanted.filter((item) => !found.has(item));
    return missing.length > 0 ? `${missing.length} of ${wanted.length} are missing, such as ${missing[0]}` : undefined;
  });
  expect(listed.length === wanted.length, `${wanted.length} creates, but getAll lists ${listed.length} items`);
}

/** Summarizes creates whose items have all been found. */
export function summary(creates) {
  const stored = creates.filter(({ isStored }) => isStored).length;
  const slowestMs = Math.round(Math.max(...creates.map(({ ms }) => ms)));
  return `${stored} creates returned 200 and ${creates.length - stored} 504 within ${slowestMs} ms, all listed once`;
}

async function create(items, word, number) {
  return { ...(await items.create(`${word} ${number}`)), word };
}

/** Returns a word that no other item has in its name. */
function newWord() {
  return `trial${Array.from({ length: 12 }, () => String.fromCharCode(97 + randomInt(26))).join('')}`;
}

function identity({ id, name }) {
  return `${id} ${name}`;
}
