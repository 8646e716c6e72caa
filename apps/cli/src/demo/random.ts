/** A reproducible random number generator: the same seed gives the same values. */
export interface Random {
  /** Returns a number from 0, inclusive, to 1, exclusive. */
  next(): number;
  /** Returns a whole number from `least` to `most`, both inclusive. */
  int(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Returns one of the alternatives in `a|b|c`. */
  phrase(alternatives: string): string;
  /** Returns one of the choices, with a probability proportional to its `weight`. */
  weighted<T extends { readonly weight: number }>(choices: readonly T[]): T;
  /** Returns a log-normal number around `median`: most values are within a factor of e^`spread`. */
  around(median: number, spread: number): number;
}

/** mulberry32 (Tommy Ettinger, public domain). Its 32 bits of state are enough for sample data. */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns the choice at `index`, starting over after the last one. */
export function cyclic<T>(choices: readonly T[], index: number): T {
  const found = choices[index % choices.length];
  if (found === undefined) throw new RangeError('There is nothing to choose from.');
  return found;
}

const splits = new Map<string, readonly string[]>();

/** Splits each text only once, because there are few texts for millions of listings. */
function split(alternatives: string): readonly string[] {
  const known = splits.get(alternatives);
  if (known) return known;
  const parts = alternatives.split('|');
  splits.set(alternatives, parts);
  return parts;
}

export function createRandom(seed: number): Random {
  const next = mulberry32(seed);
  const pick = <T>(choices: readonly T[]): T => cyclic(choices, Math.floor(next() * choices.length));
  return {
    next,
    int: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (probability) => next() < probability,
    pick,
    phrase: (alternatives) => pick(split(alternatives)),
    weighted(choices) {
      const total = choices.reduce((sum, { weight }) => sum + weight, 0);
      let left = next() * total;
      return choices.find(({ weight }) => (left -= weight) < 0) ?? pick(choices);
    },
    around(median, spread) {
      const normal = Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
      return median * Math.exp(spread * normal);
    },
  };
}
