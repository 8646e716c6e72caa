/**
 * @typedef {object} Report the responses to a stream of requests
 * @property {Record<string, number>} responses number of responses by status; `lost` counts requests without one
 * @property {number} perSecond 200s per second within the measured time
 * @property {{p50: number, p99: number, max: number}} ms durations of the measured responses
 * @property {[seconds: number, count: number][]} timeline 200s so far, at the end of each tenth of a second since the start
 * @property {number} lastMs from the start to the last response
 */

/** Collects responses. Those received after `warmUpMs`, and within `ms` from then on, are measured. */
export class Tally {
  startedAt = performance.now();
  #responses = {};
  #durations = [];
  #succeeded = 0;
  #last = 0;
  #byTenth = [];

  constructor(warmUpMs, ms = Infinity) {
    this.measureFrom = this.startedAt + warmUpMs;
    this.measureUntil = this.measureFrom + ms;
  }

  /** Waits for the response to a request that was due at `since`, and counts it. */
  async count(since, response) {
    const status = await response.catch(() => 'lost');
    const now = performance.now();
    this.#last = now;
    this.#responses[status] = (this.#responses[status] ?? 0) + 1;
    const tenth = Math.floor((now - this.startedAt) / 100);
    if (status === 200) this.#byTenth[tenth] = (this.#byTenth[tenth] ?? 0) + 1;
    if (now < this.measureFrom || now > this.measureUntil) return;
    this.#durations.push(now - since);
    if (status === 200) this.#succeeded += 1;
  }

  /** @returns {Report} */
  report() {
    const until = Math.min(this.measureUntil, this.#last);
    const sorted = Float64Array.from(this.#durations).sort();
    const quantile = (share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    let total = 0;
    return {
      responses: this.#responses,
      perSecond: this.#succeeded / ((until - this.measureFrom) / 1000),
      ms: { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1) },
      timeline: Array.from(this.#byTenth, (count = 0, tenth) => [(tenth + 1) / 10, (total += count)]),
      lastMs: this.#last - this.startedAt,
    };
  }
}
