/**
 * @typedef {object} Report what a stream of requests got
 * @property {Record<string, number>} answers how many of each status; `lost` had no answer
 * @property {number} refusedWithoutRetryAfter how many of the 503s did not say when to come back
 * @property {number} perSecond 200s a second, within the measured time
 * @property {{p50: number, p99: number, max: number}} ms how long the measured answers took
 * @property {number} lastMs from the first request of the stream to the last answer
 */

/** Collects answers; those that came from `measureFrom` to `measureUntil` (performance.now) make the figures. */
export class Tally {
  #answers = {};
  #refusedWithoutRetryAfter = 0;
  #durations = [];
  #stored = 0;
  #last = 0;

  constructor({ measureFrom, measureUntil = Infinity }) {
    this.startedAt = performance.now();
    this.measureFrom = measureFrom;
    this.measureUntil = measureUntil;
  }

  /**
   * Counts the answer to a request that was due at `since`.
   * @param {number} since
   * @param {Promise<import('./connection.mjs').Answer>} answer
   */
  async count(since, answer) {
    const { status, mayRetry } = await answer.catch(() => ({ status: 'lost', mayRetry: false }));
    const now = performance.now();
    this.#last = now;
    this.#answers[status] = (this.#answers[status] ?? 0) + 1;
    if (status === 503 && !mayRetry) this.#refusedWithoutRetryAfter += 1;
    if (now < this.measureFrom || now > this.measureUntil) return;
    this.#durations.push(now - since);
    if (status === 200) this.#stored += 1;
  }

  /** @returns {Report} */
  report() {
    const until = Math.min(this.measureUntil, this.#last);
    const sorted = Float64Array.from(this.#durations).sort();
    const quantile = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
    return {
      answers: this.#answers,
      refusedWithoutRetryAfter: this.#refusedWithoutRetryAfter,
      perSecond: this.#stored / ((until - this.measureFrom) / 1000),
      ms: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
      lastMs: this.#last - this.startedAt,
    };
  }
}
