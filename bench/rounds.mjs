/**
 * Measures all subjects in turn, round by round, so that other work on the machine affects all of them. The order
 * rotates, because a load may affect the one after it.
 * @template T
 * @param {string[]} names
 * @param {number} rounds
 * @param {(name: string) => Promise<T>} measure
 * @returns {Promise<Record<string, T[]>>} by name, one per round
 */
export async function interleave(names, rounds, measure) {
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) results[name].push(await measure(name));
  }
  return results;
}

/** Returns the ratio of the two values of each round. */
export function ratios(ones, others) {
  return ones.map((one, round) => one / others[round]);
}

/** Returns the middle value, or the mean of the two middle values. NaN for no values. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
}
