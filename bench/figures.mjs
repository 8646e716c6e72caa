/**
 * A figure: a quantity of a variant in each round, or its ratio to that of another variant. It becomes a row of the
 * report, with the values instead of `of`.
 * @typedef {object} Figure
 * @property {string} title
 * @property {(measured: import('./meter.mjs').Measured) => number} of
 * @property {(value: number) => string} format
 * @property {'more' | 'less'} better
 * @property {string} [variant] by default the service
 * @property {string} [against]
 * @property {number} [must]
 * @property {number} [aim]
 * @property {boolean} [isWorst] whether the worst round counts instead of the median
 */

/**
 * Figures that are measured together.
 * @typedef {object} Group
 * @property {Record<string, import('./load/generate.mjs').Load & {subject?: string}>} variants the load of each; the
 *   subject is by default the one that the variant is named after
 * @property {number} [rounds] if not those of steady loads
 * @property {Figure[]} figures
 * @property {(variant: string, subject: import('./subjects.mjs').Subject) => unknown} [before] each measurement
 * @property {Group['before']} [after]
 */

export const CREATES_PER_SECOND = {
  title: 'creates/s',
  of: ({ creates }) => creates.perSecond,
  format: (value) => `${value.toFixed(0)}/s`,
  better: 'more',
};
export const READS_PER_SECOND = { ...CREATES_PER_SECOND, of: ({ reads }) => reads.perSecond };
export const P99_OF_STEADY_READS = milliseconds('p99 of getById', ({ steadyReads }) => steadyReads.ms.p99);
export const MONGODB_CPU_PER_CREATE = milliseconds(
  "MongoDB's CPU per create with its indexing",
  ({ cpuMs, creates }) => cpuMs.mongod / creates.responses[200],
);

/** Returns a figure in ms. */
export function milliseconds(title, of) {
  return { title, of, format: duration, better: 'less' };
}

/**
 * Measures the variants of a group in turn. Returns the rows of its figures, and what was measured.
 * @param {import('./benchmark.mjs').Bench} bench
 * @param {Record<string, import('./subjects.mjs').Subject>} subjects
 * @param {string} title of the step
 * @param {Group} group
 */
export async function measureGroup({ launcher, meter, size }, subjects, title, group) {
  const { variants, rounds = size.rounds, figures, before, after } = group;
  const results = await launcher.steps.run(title, () =>
    interleave(Object.keys(variants), rounds, async (variant) => {
      const { subject: name = variant, ...load } = variants[variant];
      await before?.(variant, subjects[name]);
      try {
        return await meter.measure(subjects[name], load);
      } finally {
        await after?.(variant, subjects[name]);
      }
    }),
  );
  return { rows: figures.map((figure) => rowOf(figure, results)), results };
}

/**
 * Measures variants round by round, so that other work on the machine affects all of them. The order rotates, because a
 * load may affect the one after it. Returns the results by variant, one per round.
 */
export async function interleave(variants, rounds, measure) {
  const results = Object.fromEntries(variants.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round += 1) {
    const first = round % variants.length;
    for (const variant of [...variants.slice(first), ...variants.slice(0, first)])
      results[variant].push(await measure(variant));
  }
  return results;
}

/** Returns the row of a figure, and with a ratio a note of the two medians. */
export function rowOf({ of, variant = 'service', against, ...figure }, results) {
  const values = results[variant].map(of);
  if (against === undefined) return { ...figure, values };
  const others = results[against].map(of);
  const note = [values, others].map((each) => figure.format(median(each))).join(' to ');
  return { ...figure, format: times, values: values.map((value, round) => value / others[round]), note };
}

/** Returns the middle value, or the mean of the two middle values. NaN unless every round has a value. */
export function median(values) {
  if (!values.every(Number.isFinite)) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
}

export function times(ratio) {
  return `${ratio.toFixed(2)} ×`;
}

export function duration(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 10 ? 1 : 0)} ms`;
}

export function megabytes(value) {
  return `${value.toFixed(0)} MB`;
}
