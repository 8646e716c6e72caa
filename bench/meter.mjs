import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuMsOf, forgetPeakOf, peakMegabytesOf } from './processes.mjs';

const GENERATOR = fileURLToPath(new URL('./load/generate.mjs', import.meta.url));
/** What one load leaves behind (flushes, removed jobs) is not the next one's. */
const SETTLE_MS = 200;
const RECOUNT_MS = 2000;
const ASK_EVERY_MS = 20;
const INDEXED_WITHIN_MS = 60_000;

/**
 * @typedef {object} Measured what one load did to one subject
 * @property {import('./load/tally.mjs').Report} [creates]
 * @property {import('./load/tally.mjs').Report} [reads]
 * @property {import('./load/tally.mjs').Report} [others] prepared requests, when there were reads beside them
 * @property {number} indexedMs from the last answer until search finds all that was created
 * @property {Record<string, number>} cpuMs CPU time by process until then, those of the databases included
 * @property {Record<string, number>} peakMegabytes by process of the subject
 */

/** Puts loads on subjects, and checks each time that what was answered is what is stored. */
export class Meter {
  /** What must not happen, in sentences. */
  problems = [];
  /** What may happen and has to be told, in sentences. */
  remarks = [];
  /** What generating the loads took, all together. */
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
    Object.values(subject.pids).forEach(forgetPeakOf);

    const reports = await this.#generate({ port: subject.port, keyed: this.keyed, ...load });

    const indexedMs = reports.creates ? await this.#untilIndexed(subject) : 0;
    const cpuMs = mapValues(pids, (pid, name) => cpuMsOf(pid) - before[name]);
    const peakMegabytes = mapValues(subject.pids, peakMegabytesOf);
    if (reports.creates) await this.#compare(subject, countBefore, reports.creates);
    if (load.prepared)
      for (const report of [reports.reads, reports.others ?? []].flat()) this.#requireAnswers(subject, report);
    await delay(SETTLE_MS);
    return { ...reports, indexedMs, cpuMs, peakMegabytes };
  }

  async #generate(spec) {
    const output = await this.launcher.run(process.execPath, [GENERATOR, JSON.stringify(spec)], { name: 'generator' });
    const { cpuMs, ...reports } = JSON.parse(output);
    this.generated.cpuMs += cpuMs;
    for (const { answers } of Object.values(reports)) this.generated.requests += sum(answers);
    return reports;
  }

  /** What a subject puts off is its own work still, and not to be done in the next one's time. */
  async #untilIndexed({ title, hasUnindexed }) {
    const since = performance.now();
    while (await hasUnindexed()) {
      if (performance.now() - since > INDEXED_WITHIN_MS) {
        this.report(`${title} has not made all items findable within a minute`);
        break;
      }
      await delay(ASK_EVERY_MS);
    }
    return performance.now() - since;
  }

  /** Stored has to be what was answered 200, and besides at most those whose outcome was left open. */
  async #compare(subject, countBefore, { answers, refusedWithoutRetryAfter }) {
    const { 200: created = 0, 503: refused = 0, ...others } = answers;
    const open = sum(others);
    let stored = (await subject.countItems()) - countBefore;
    // What was left open may be stored yet, and must not count as the next load's.
    if (stored !== created || open > 0) {
      await delay(RECOUNT_MS);
      stored = (await subject.countItems()) - countBefore;
    }
    if (stored < created || stored > created + open) {
      this.report(`${subject.title} stored ${stored} items and answered 200 to ${created}`);
    }
    if (refusedWithoutRetryAfter > 0) {
      this.report(`${subject.title} answered ${refusedWithoutRetryAfter} times 503 without Retry-After`);
    }
    if (open + refused > 0) this.remarks.push(`${subject.title} answered ${JSON.stringify(answers)}`);
  }

  /** Requests that were looked at before have one right answer, and a quick refusal is no speed. */
  #requireAnswers({ title }, { answers: { 200: answered, ...others } }) {
    if (!answered || sum(others) > 0)
      this.report(`${title} answered reads ${JSON.stringify({ 200: answered, ...others })}`);
  }

  /** @param {string} problem a sentence without its stop */
  report(problem) {
    this.problems.push(problem);
    this.launcher.steps.say(`!!!!! ${problem}`);
  }
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function mapValues(object, transform) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, transform(value, name)]));
}
