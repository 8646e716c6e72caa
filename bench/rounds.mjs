/**
 * Measures all in turn, round by round, so that whatever else the machine does meets all of them. Who is first changes:
 * what follows a load may feel it.
 * @template T
 * @param {string[]} names
 * @param {number} rounds
 * @param {(name: string) => Promise<T>} measure
 * @returns {Promise<Record<string, T[]>>} by name, one a round
 */
export async function interleave(names, rounds, measure) {
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) results[name].push(await measure(name));
  }
  return results;
}

/** Round by round, what the one is of the other. */
export function ratios(ones, others) {
  return ones.map((one, round) => one / others[round]);
}

/** The middle value, or the mean of the two in the middle; NaN of nothing. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
}
