import { median, ratios } from './rounds.mjs';

/**
 * One figure and what is asked of it.
 * @typedef {object} Row
 * @property {string} figure
 * @property {'more' | 'less'} better
 * @property {number} [must]
 * @property {number} [aim]
 * @property {number[]} values one a round
 * @property {boolean} [worst] whether the worst round counts, and not the median
 * @property {string} [unit]
 * @property {number} [digits] behind the point
 * @property {string} [note] what the figure was made of
 */

/** @typedef {Record<string, import('./meter.mjs').Measured[]>} Results by subject, one a round */

/**
 * How many times as many creates a second the service does as a peer.
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
 * How many times as long the service takes as the direct app.
 * @param {Results} results
 * @param {(measured: import('./meter.mjs').Measured) => number} msOf
 * @param {Pick<Row, 'figure' | 'must' | 'aim'>} row
 * @returns {Row}
 */
export function slower({ service, direct }, msOf, row) {
  return compared(service.map(msOf), direct.map(msOf), duration, { better: 'less', ...row });
}

/**
 * What a create has cost MongoDB, until search found all of them.
 * @param {import('./meter.mjs').Measured} measured
 * @returns {number} ms of CPU time
 */
export function mongodbCpu({ creates, cpuMs }) {
  return cpuMs.mongod / creates.answers[200];
}

/**
 * How many times the ones are the others, round by round.
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

/** Whether its "must" is met; what could not be measured misses nothing. */
export function isMet(row) {
  const value = countedValue(row);
  return row.must === undefined || Number.isNaN(value) || isAsGoodAs(value, row.must, row);
}

/** @param {Row} row @returns {string} the better of its two demands that is met */
export function verdict(row) {
  const value = countedValue(row);
  if (Number.isNaN(value)) return '–';
  if (row.must === undefined && row.aim === undefined) return '';
  if (!isMet(row)) return '**missed**';
  if (row.aim !== undefined && isAsGoodAs(value, row.aim, row)) return 'aim';
  return row.must === undefined ? 'not yet' : 'must';
}

/** The one value that stands for all rounds. */
export function countedValue({ values, worst, better }) {
  if (!worst) return median(values);
  return better === 'more' ? Math.min(...values) : Math.max(...values);
}

function isAsGoodAs(value, limit, { better }) {
  return better === 'more' ? value >= limit : value <= limit;
}
