/**
 * @typedef {object} Report the responses to a stream of requests
 * @property {Record<string, number>} responses number of responses by status; `lost` counts requests without one
 * @property {number} refusedWithoutRetryAfter 503s without Retry-After
 * @property {number} perSecond 200s per second within the measured time
 * @property {{p50: number, p99: number, max: number}} ms durations of the measured responses
 * @property {number[]} timeline 200s so far, at the end of each tenth of a second since the construction of the tally
 * @property {number} lastMs from the construction of the tally to the last response
 */

const TENTH_MS = 100;

/** Collects responses. Those received from `measureFrom` to `measureUntil` (performance.now) are measured. */
export class Tally {
  #responses = {};
  #refusedWithoutRetryAfter = 0;
  #durations = [];
  #stored = 0;
  #last = 0;
  #created = [];

  constructor({ measureFrom, measureUntil = Infinity }) {
    this.startedAt = performance.now();
    this.measureFrom = measureFrom;
    this.measureUntil = measureUntil;
  }

  /**
   * Counts the response to a request that was due at `since`.
   * @param {number} since
   * @param {Promise<import('./connection.mjs').Response>} response
   */
  async count(since, response) {
    const { status, mayRetry } = await response.catch(() => ({ status: 'lost', mayRetry: false }));
    const now = performance.now();
    this.#last = now;
    this.#responses[status] = (this.#responses[status] ?? 0) + 1;
    if (status === 200) this.#countAt(now);
    if (status === 503 && !mayRetry) this.#refusedWithoutRetryAfter += 1;
    if (now < this.measureFrom || now > this.measureUntil) return;
    this.#durations.push(now - since);
    if (status === 200) this.#stored += 1;
  }

  #countAt(now) {
    const tenth = Math.floor((now - this.startedAt) / TENTH_MS);
    this.#created[tenth] = (this.#created[tenth] ?? 0) + 1;
  }

  /** @returns {Report} */
  report() {
    const until = Math.min(this.measureUntil, this.#last);
    const sorted = Float64Array.from(this.#durations).sort();
    const quantile = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
    let total = 0;
    const timeline = Array.from(this.#created, (count = 0) => (total += count));
    return {
      responses: this.#responses,
      refusedWithoutRetryAfter: this.#refusedWithoutRetryAfter,
      perSecond: this.#stored / ((until - this.measureFrom) / 1000),
      ms: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
      timeline,
      lastMs: this.#last - this.startedAt,
    };
  }
}
