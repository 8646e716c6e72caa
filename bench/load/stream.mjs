import { closedLoop, openLoop } from './loops.mjs';
import { requestsOf } from './requests.mjs';
import { Tally } from './tally.mjs';

/**
 * Requests of one kind: a closed loop of `connections` for `warmUpMs` and `ms`, or an open loop of `count` requests, or
 * without a count, which are due at a `rate` per second or, without a rate, all at once.
 * @typedef {object} Stream
 * @property {number} connections
 * @property {number} [warmUpMs] before anything is measured
 * @property {number} [ms]
 * @property {number} [count]
 * @property {number} [rate]
 * @property {string[]} [tokens] of the callers, in turn
 * @property {string} [operation] of reads; creates have none
 * @property {object[]} [inputs] of reads, drawn at random; by default, getById reads one item
 * @property {number} [waitS] the wait that each create requests
 * @property {boolean} [isAsync] whether creates request no wait
 * @property {boolean} [isUnknown] whether their brand and condition do not exist
 * @property {string} [expected] a status other than 200 that needs no remark
 */

/**
 * Prepares the requests of a stream. Returns a function that sends them, until they are sent or a promise settles.
 * @param {number | number[]} port
 * @param {Stream} stream
 * @returns {(until?: Promise<unknown>) => Promise<import('./tally.mjs').Report>}
 */
export function prepare(port, stream) {
  const { connections, warmUpMs = 0, ms = Infinity, count, rate } = stream;
  const next = requestsOf(port, stream);
  return async (until) => {
    const measureFrom = performance.now() + warmUpMs;
    const tally = new Tally({ measureFrom, measureUntil: measureFrom + ms });
    if (count === undefined && rate === undefined) await closedLoop(port, { connections, next, tally });
    else await openLoop(port, { connections, rate, count, until, next, tally });
    return tally.report();
  };
}
