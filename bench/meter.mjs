import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuMsOf, resetPeakOf, peakMegabytesOf } from './processes.mjs';

const GENERATOR = fileURLToPath(new URL('./load/generate.mjs', import.meta.url));
/** The work that a load leaves behind (flushes, removed jobs) must not affect the next one. */
const SETTLE_MS = 200;
const RECOUNT_MS = 2000;
const POLL_INTERVAL_MS = 20;
const INDEXED_WITHIN_MS = 60_000;

/**
 * @typedef {object} Measured the result of one load on one subject
 * @property {import('./load/tally.mjs').Report} [creates]
 * @property {import('./load/tally.mjs').Report} [reads]
 * @property {import('./load/tally.mjs').Report} [others] prepared requests, if there were reads alongside them
 * @property {number} indexedMs from the last response until search finds all created items
 * @property {Record<string, number>} cpuMs CPU time until then by process, including the databases
 * @property {Record<string, number>} peakMegabytes peak memory by process of the subject
 */

/** Runs loads on subjects, and checks each time that the stored items match the responses. */
export class Meter {
  /** Sentences about what must not happen. */
  problems = [];
  /** Sentences about what may happen but has to be reported. */
  remarks = [];
  /** The total cost of generating the loads. */
  generated = { requests: 0, cpuMs: 0 };

  /**
   * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
   * @param {import('./databases.mjs').Databases} databases
   * @param {{keyed: boolean}} options
   */
  constructor(launcher, databases, { keyed }) {
    this.launcher = launcher;
    this.databases = databases;
    this.keyed = keyed;
  }

  /**
   * @param {import('./subjects.mjs').Subject} subject
   * @param {Omit<import('./load/generate.mjs').Spec, 'port' | 'keyed'>} load
   * @returns {Promise<Measured>}
   */
  async measure(subject, load) {
    const pids = { ...subject.pids, ...this.databases.pids };
    const countBefore = await subject.countItems();
    const before = mapValues(pids, cpuMsOf);
    Object.values(subject.pids).forEach(resetPeakOf);

    const reports = await this.#generate({ port: subject.port, keyed: this.keyed, ...load });

    const indexedMs = reports.creates ? await this.#waitUntilIndexed(subject) : 0;
    const cpuMs = mapValues(pids, (pid, name) => cpuMsOf(pid) - before[name]);
    const peakMegabytes = mapValues(subject.pids, peakMegabytesOf);
    if (reports.creates) await this.#compare(subject, countBefore, reports.creates, load);
    if (load.prepared)
      for (const report of [reports.reads, reports.others ?? []].flat()) this.#requireSuccess(subject, report);
    await delay(SETTLE_MS);
    return { ...reports, indexedMs, cpuMs, peakMegabytes };
  }

  async #generate(spec) {
    const output = await this.launcher.run(process.execPath, [GENERATOR, JSON.stringify(spec)], { name: 'generator' });
    const { cpuMs, ...reports } = JSON.parse(output);
    this.generated.cpuMs += cpuMs;
    for (const { responses } of Object.values(reports)) this.generated.requests += sum(responses);
    return reports;
  }

  /** Waits for the work that a subject defers, so that it does not slow down the next subject. */
  async #waitUntilIndexed({ title, hasUnindexed }) {
    const since = performance.now();
    while (await hasUnindexed()) {
      if (performance.now() - since > INDEXED_WITHIN_MS) {
        this.report(`${title} did not make all items searchable within a minute`);
        break;
      }
      await delay(POLL_INTERVAL_MS);
    }
    return performance.now() - since;
  }

  /** Requires that every create with a 200 is stored and, beyond those, at most the ones with an unknown outcome. */
  async #compare(subject, countBefore, { responses, refusedWithoutRetryAfter }, { expected = [] }) {
    const { 200: created = 0, 503: refused = 0, ...others } = responses;
    const unknown = sum(others);
    let stored = (await subject.countItems()) - countBefore;
    // Creates with an unknown outcome may still be stored, and must not count towards the next load.
    if (stored !== created || unknown > 0) {
      await delay(RECOUNT_MS);
      stored = (await subject.countItems()) - countBefore;
    }
    if (stored < created || stored > created + unknown) {
      this.report(`${subject.title} stored ${stored} items and returned 200 for ${created}`);
    }
    if (refusedWithoutRetryAfter > 0) {
      this.report(`${subject.title} returned 503 without Retry-After ${refusedWithoutRetryAfter} times`);
    }
    const isExpected = Object.keys(others).every((status) => expected.includes(status));
    if (refused > 0 || !isExpected) this.remarks.push(`${subject.title} responded with ${JSON.stringify(responses)}`);
  }

  /** Requires 200s only: prepared requests have been checked, and a fast rejection must not count as speed. */
  #requireSuccess({ title }, { responses: { 200: succeeded, ...others } }) {
    if (!succeeded || sum(others) > 0)
      this.report(`${title} responded to reads with ${JSON.stringify({ 200: succeeded, ...others })}`);
  }

  /** @param {string} problem a sentence without the final period */
  report(problem) {
    this.problems.push(problem);
    this.launcher.steps.print(`!!!!! ${problem}`);
  }
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function mapValues(object, transform) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, transform(value, name)]));
}
