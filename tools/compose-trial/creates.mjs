import { randomInt } from 'node:crypto';
import { expect, until } from './expect.mjs';

const LISTED_WITHIN_MS = 60_000;

/** @typedef {Awaited<ReturnType<import('./items.mjs').Items['create']>> & {word: string}} Create */

/**
 * Creates so many items at once.
 * @param {import('./items.mjs').Items} items
 * @returns {Promise<Create[]>}
 */
export function createMany(items, count) {
  const word = newWord();
  return Promise.all(Array.from({ length: count }, (_, index) => create(items, word, index + 1)));
}

/**
 * Creates for as long as something lasts, and no fewer items than are to be on their way at a time.
 * @param {import('./items.mjs').Items} items
 * @param {number} atATime
 * @param {Promise<unknown>} something may fail: what it has done is for others to look at
 * @returns {Promise<Create[]>}
 */
export async function createDuring(items, atATime, something) {
  const word = newWord();
  const creates = [];
  let started = 0;
  let isOver = false;
  const over = something.catch(() => undefined).finally(() => (isOver = true));
  const lane = async () => {
    do creates.push(await create(items, word, (started += 1)));
    while (!isOver);
  };
  await Promise.all([over, ...Array.from({ length: atATime }, lane)]);
  return creates;
}

/**
 * What was accepted is listed, sooner or later, and once; nothing else is under the same words.
 * @param {import('./items.mjs').Items} items
 * @param {Create[]} creates
 */
export async function expectExactlyOnce(items, creates) {
  const wanted = creates.map(identity);
  let listed = [];
  await until(LISTED_WITHIN_MS, async () => {
    listed = [];
    for (const word of new Set(creates.map((created) => created.word))) listed.push(...(await items.search(word)));
    const there = new Set(listed.map(identity));
    const missing = wanted.filter((item) => !there.has(item));
    return missing.length > 0 ? `${missing.length} of ${wanted.length} are missing, such as ${missing[0]}` : undefined;
  });
  expect(listed.length === wanted.length, `${wanted.length} creates, but getAll lists ${listed.length} items`);
}

/** What became of creates that are all there, in words. */
export function summary(creates) {
  const stored = creates.filter(({ isStored }) => isStored).length;
  const slowestMs = Math.round(Math.max(...creates.map(({ ms }) => ms)));
  return `${stored} creates answered 200 within ${slowestMs} ms, ${creates.length - stored} settled later, all there once`;
}

async function create(items, word, number) {
  return { ...(await items.create(`${word} ${number}`)), word };
}

/** A word that no other item has in its name. */
function newWord() {
  return `trial${Array.from({ length: 12 }, () => String.fromCharCode(97 + randomInt(26))).join('')}`;
}

function identity({ id, name }) {
  return `${id} ${name}`;
}
