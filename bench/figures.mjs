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

export const CREATES_PER_SECOND = {
  title: 'creates/s',
  of: ({ creates }) => creates.perSecond,
  format: (value) => `${value.toFixed(0)}/s`,
  better: 'more',
};
export const READS_PER_SECOND = { ...CREATES_PER_SECOND, title: 'getById/s', of: ({ reads }) => reads.perSecond };
export const P50 = milliseconds('p50', ({ creates }) => creates.ms.p50);
export const P99 = milliseconds('p99', ({ creates }) => creates.ms.p99);
export const LAST_RESPONSE = milliseconds('last response', ({ creates }) => creates.lastMs);
export const P99_OF_STEADY_READS = milliseconds('p99 of getById', ({ steadyReads }) => steadyReads.ms.p99);
export const MONGODB_CPU_PER_CREATE = milliseconds(
  "MongoDB's CPU per create with its indexing",
  cpuPerCreate('mongod'),
);
export const CPU_PER_CREATE = milliseconds('CPU of API and worker per create', cpuPerCreate('api', 'worker'));
export const CPU_PER_READ = milliseconds(
  'CPU of the API per getById',
  ({ cpuMs, reads }) => cpuMs.api / reads.responses[200],
);

/** Returns a function that computes the CPU time of these processes per create, in ms. */
export function cpuPerCreate(...processes) {
  return ({ cpuMs, creates }) => processes.reduce((sum, process) => sum + cpuMs[process], 0) / creates.responses[200];
}

/** Returns a figure in ms. */
export function milliseconds(title, of) {
  return { title, of, format: duration, better: 'less' };
}

/** Returns the figure for the peak memory of a process in MB, in the worst round. */
export function peakMemory(title, process, targets) {
  const of = ({ peakMegabytes }) => peakMegabytes[process];
  return { title, of, format: megabytes, better: 'less', isWorst: true, ...targets };
}

/** Returns the ratio of a figure of a variant to that of another. `more` follows the figure's title. */
export function ratio(figure, more, [variant, against], must, aim) {
  return { ...figure, title: `${figure.title}${more}`, variant, against, must, aim };
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

export function times(value) {
  return `${value.toFixed(2)} ×`;
}

export function duration(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 10 ? 1 : 0)} ms`;
}

export function megabytes(value) {
  return `${value.toFixed(0)} MB`;
}

/** Formats a whole number with separators. */
export function number(value) {
  return value.toLocaleString('en');
}
