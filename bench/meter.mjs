import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LOCAL } from '../tools/checkout/root.mjs';
import { cpuMsOf, peakMegabytesOf, resetPeakOf } from './processes.mjs';

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
 * @property {import('./load/tally.mjs').Report} [steadyReads]
 * @property {import('./load/tally.mjs').Report} [steadyCreates]
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
  #launcher;
  #databases;
  #loadFile;

  constructor(launcher, databases) {
    this.#launcher = launcher;
    this.#databases = databases;
    // There may be too many requests for a command line.
    this.#loadFile = join(launcher.temporaryFolder(LOCAL), 'load.json');
  }

  /**
   * @param {import('./subjects.mjs').Subject} subject
   * @param {import('./load/generate.mjs').Load} load
   * @returns {Promise<Measured>}
   */
  async measure(subject, load) {
    const pids = { ...subject.pids, ...this.#databases.pids };
    const countBefore = load.creates && (await subject.countItems());
    const before = mapValues(pids, cpuMsOf);
    Object.values(subject.pids).forEach(resetPeakOf);

    const steadyReads = load.steadyReads && { id: subject.itemId, ...load.steadyReads };
    const reports = await this.#generate({ port: subject.port, ...load, steadyReads });

    for (const [name, { ms }] of Object.entries(reports))
      if (ms.p50 === undefined) this.report(`${subject.title} sent no response to ${name} in the measured time`);
    const indexedMs = load.creates ? await this.waitUntilIndexed(subject) : 0;
    const cpuMs = mapValues(pids, (pid, name) => cpuMsOf(pid) - before[name]);
    const peakMegabytes = mapValues(subject.pids, peakMegabytesOf);
    if (load.creates) await this.#checkStored(subject, countBefore, reports, load.creates.expected);
    if (load.reads) this.#checkReads(subject, reports.reads);
    await delay(SETTLE_MS);
    return { ...reports, indexedMs, cpuMs, peakMegabytes };
  }

  /** Queues creates while the workers of a subject are suspended. */
  async fillQueue({ port, pids }, creates) {
    process.kill(pids.worker, 'SIGSTOP');
    try {
      await this.#generate({ port, creates: { ...creates, isAsync: true } });
    } finally {
      process.kill(pids.worker, 'SIGCONT');
    }
  }

  /** Runs each subject before it is measured, until V8 has compiled its code and its caches are filled. */
  async warmUp(subjects, load) {
    await this.#launcher.steps.run('warm-up', async () => {
      for (const subject of Object.values(subjects)) await this.measure(subject, load);
    });
  }

  async #generate(load) {
    writeFileSync(this.#loadFile, JSON.stringify(load));
    const output = await this.#launcher.run(process.execPath, [GENERATOR, this.#loadFile], { name: 'generator' });
    const { cpuMs, ...reports } = JSON.parse(output);
    this.generated.cpuMs += cpuMs;
    for (const { responses } of Object.values(reports)) this.generated.requests += sum(responses);
    return reports;
  }

  /** Waits for the work that a subject defers, so that it does not slow down the next subject. */
  async waitUntilIndexed({ title, hasUnindexed }) {
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
  async #checkStored({ title, countItems }, countBefore, { creates, steadyCreates }, expected) {
    const { refusedWithoutRetryAfter } = creates;
    const responses = added(creates.responses, steadyCreates?.responses ?? {});
    const { 200: created = 0, 503: refused = 0, ...others } = responses;
    const unknown = sum(others);
    let stored = (await countItems()) - countBefore;
    // Creates with an unknown outcome may still be stored, and must not count towards the next load.
    if (stored !== created || unknown > 0) {
      await delay(RECOUNT_MS);
      stored = (await countItems()) - countBefore;
    }
    if (stored < created || stored > created + unknown) {
      this.report(`${title} stored ${stored} items and returned 200 for ${created}`);
    }
    if (refusedWithoutRetryAfter > 0) {
      this.report(`${title} returned 503 without Retry-After ${refusedWithoutRetryAfter} times`);
    }
    const isExpected = Object.keys(others).every((status) => status === expected);
    if (refused > 0 || !isExpected) this.remarks.push(`${title} responded with ${JSON.stringify(responses)}`);
  }

  /** Requires 200s only: the requests have been checked, and a fast rejection must not count as speed. */
  #checkReads({ title }, { responses: { 200: succeeded = 0, ...others } }) {
    if (succeeded === 0 || sum(others) > 0)
      this.report(`${title} responded to reads with ${JSON.stringify({ 200: succeeded, ...others })}`);
  }

  /** @param {string} problem a sentence without the final period */
  report(problem) {
    this.problems.push(problem);
    this.#launcher.steps.print(`!!!!! ${problem}`);
  }
}

function added(counts, others) {
  const all = { ...counts };
  for (const [name, count] of Object.entries(others)) all[name] = (all[name] ?? 0) + count;
  return all;
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function mapValues(object, transform) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, transform(value, name)]));
}
