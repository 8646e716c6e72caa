import { median, ratios } from './rounds.mjs';

/**
 * A figure and its targets.
 * @typedef {object} Row
 * @property {string} figure
 * @property {'more' | 'less'} better
 * @property {number} [must]
 * @property {number} [aim]
 * @property {number[]} values one per round
 * @property {boolean} [worst] whether the worst round counts instead of the median
 * @property {string} [unit]
 * @property {number} [digits] after the decimal point
 * @property {string} [note] the values from which the figure was computed
 */

/** @typedef {Record<string, import('./meter.mjs').Measured[]>} Results by subject, one per round */

/**
 * Returns the rate of the service divided by that of a peer; by default, creates per second.
 * @param {Results} results
 * @param {string} peer
 * @param {Pick<Row, 'figure' | 'must' | 'aim'>} row
 * @param {(measured: import('./meter.mjs').Measured) => number} [rateOf]
 * @returns {Row}
 */
export function faster(results, peer, row, rateOf = ({ creates }) => creates.perSecond) {
  return compared(results.service.map(rateOf), results[peer].map(rateOf), rate, { better: 'more', ...row });
}

/**
 * Returns how many times as long the service takes as the direct app.
 * @param {Results} results
 * @param {(measured: import('./meter.mjs').Measured) => number} msOf
 * @param {Pick<Row, 'figure' | 'must' | 'aim'>} row
 * @returns {Row}
 */
export function slower({ service, direct }, msOf, row) {
  return compared(service.map(msOf), direct.map(msOf), duration, { better: 'less', ...row });
}

/**
 * Returns MongoDB's cost per create, until search has found all of them.
 * @param {import('./meter.mjs').Measured} measured
 * @returns {number} ms of CPU time
 */
export function mongodbCpu({ creates, cpuMs }) {
  return cpuMs.mongod / creates.responses[200];
}

/**
 * Compares two series of values by the ratio of each round.
 * @param {number[]} ones
 * @param {number[]} others
 * @param {(value: number) => string} format of the two medians in the note
 * @param {Pick<Row, 'figure' | 'better' | 'must' | 'aim'>} row
 * @returns {Row}
 */
export function compared(ones, others, format, row) {
  const note = `${format(median(ones))} to ${format(median(others))}`;
  return { ...TIMES, values: ratios(ones, others), note, ...row };
}

export function rate(perSecond) {
  return `${perSecond.toFixed(0)}/s`;
}

export const TIMES = { unit: ' ×', digits: 2 };

export function duration(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms.toFixed(ms < 1 ? 2 : ms < 10 ? 1 : 0)} ms`;
}

/** Whether its "must" is met. A figure that could not be measured does not miss it. */
export function isMet(row) {
  const value = countedValue(row);
  return row.must === undefined || Number.isNaN(value) || isAsGoodAs(value, row.must, row);
}

/** @param {Row} row @returns {string} the stricter of its two targets that is met */
export function metTarget(row) {
  const value = countedValue(row);
  if (Number.isNaN(value)) return '–';
  if (row.must === undefined && row.aim === undefined) return '';
  if (!isMet(row)) return '**missed**';
  if (row.aim !== undefined && isAsGoodAs(value, row.aim, row)) return 'aim';
  return row.must === undefined ? 'not yet' : 'must';
}

/** Returns the value that counts for all rounds. */
export function countedValue({ values, worst, better }) {
  if (!worst) return median(values);
  return better === 'more' ? Math.min(...values) : Math.max(...values);
}

function isAsGoodAs(value, limit, { better }) {
  return better === 'more' ? value >= limit : value <= limit;
}
