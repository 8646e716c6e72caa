import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { signal } from '../tools/processes/stop-in-order.mjs';
import { waitUntil } from '../tools/wait-until.mjs';
import { cpuMsOf, peakMegabytesOf, resetPeakOf } from './processes.mjs';

const GENERATOR = fileURLToPath(new URL('./load/generate.mjs', import.meta.url));
/** A steady stream starts this long before the other load. */
const STEADY = { connections: 16, warmUpMs: 500 };
/** The work that a load leaves behind (flushes, removed jobs) must not affect the next one. */
const SETTLE_MS = 200;
const RECOUNT_MS = 2000;
/** Nothing is stored any more if nothing was in this time. */
const STABLE_MS = 1000;
const INDEXED = { everyMs: 20, withinMs: 60_000 };

/**
 * The result of one load on one subject: the report of each stream of the load, and
 * @typedef {object} Measured
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

  constructor(launcher, databases) {
    this.#launcher = launcher;
    this.#databases = databases;
  }

  /**
   * @param {import('./subjects.mjs').Subject} subject
   * @param {import('./load/generate.mjs').Load} load
   * @returns {Promise<Measured>}
   */
  async measure(subject, load) {
    const pids = { ...subject.pids, ...this.#databases.pids };
    const countBefore = await countItems(subject);
    const before = mapValues(pids, cpuMsOf);
    Object.values(subject.pids).forEach(resetPeakOf);

    const reports = await this.#generate(subject, load);

    for (const [name, { ms }] of Object.entries(reports))
      if (ms.p50 === undefined) this.report(`${subject.title} sent no response to ${name} in the measured time`);
    const indexedMs = load.creates ? await this.#waitUntilIndexed(subject) : 0;
    const cpuMs = mapValues(pids, (pid, name) => cpuMsOf(pid) - before[name]);
    const peakMegabytes = mapValues(subject.pids, peakMegabytesOf);
    if (load.creates) await this.#checkStored(subject, countBefore, reports, load.creates.expected);
    if (load.reads) this.#checkReads(subject, reports.reads);
    await delay(SETTLE_MS);
    return { ...reports, indexedMs, cpuMs, peakMegabytes };
  }

  /** Runs each subject before it is measured, until V8 has compiled its code and its caches are filled. */
  async warmUp(subjects, load) {
    await this.#launcher.steps.run('warm-up', async () => {
      for (const subject of subjects) await this.measure(subject, load);
    });
  }

  /** Queues creates while the workers of a subject are suspended. */
  async fillQueue(subject, creates) {
    process.kill(subject.pids.worker, 'SIGSTOP');
    try {
      await this.#generate(subject, { creates: { ...creates, isAsync: true } });
    } finally {
      process.kill(subject.pids.worker, 'SIGCONT');
    }
  }

  /** Waits until a subject has stored everything that is queued, and search finds it. */
  async waitUntilIdle(subject) {
    let count = -1;
    const isStable = async () => count === (count = await countItems(subject));
    await waitUntil(isStable, { everyMs: STABLE_MS });
    await this.#waitUntilIndexed(subject);
  }

  /** Reports a problem, a sentence without the final period. */
  report(problem) {
    this.problems.push(problem);
    this.#launcher.steps.print(`!!!!! ${problem}`);
  }

  /** Sends each stream from a process of its own, so that the work for one does not delay the responses of another. */
  async #generate({ port, itemId, tokens }, load) {
    const streams = mapValues(load, (stream, name) => ({
      port,
      tokens,
      ...(/reads/i.test(name) && { operation: 'getById', inputs: [{ id: itemId }] }),
      ...(name.startsWith('steady') && STEADY),
      ...stream,
    }));
    const [steady] = Object.keys(load).filter((name) => name.startsWith('steady'));
    const [other] = Object.keys(load).filter((name) => name !== steady);
    const generators = {};
    if (steady) generators[steady] = await this.#startGenerator(streams[steady]);
    if (steady) await delay(STEADY.warmUpMs);
    if (other) generators[other] = await this.#startGenerator(streams[other]);
    await Promise.all([generators[other]?.exited, steady && delay(load[steady].ms)]);
    if (steady) signal(generators[steady].pid, 'SIGTERM');
    const reports = {};
    for (const [name, generator] of Object.entries(generators)) {
      const { report, cpuMs } = JSON.parse(await this.#launcher.outputOf(generator));
      reports[name] = report;
      this.generated.cpuMs += cpuMs;
      this.generated.requests += sum(report.responses);
    }
    return reports;
  }

  /** Starts to send a stream. Resolves once its first line says so, or it has failed. */
  #startGenerator(stream) {
    return new Promise((resolve) => {
      const onLine = () => resolve(generator);
      // There may be too many requests for a command line.
      const options = { stdin: 'pipe', input: JSON.stringify(stream), collect: true, onLine };
      const generator = this.#launcher.start('generator', process.execPath, [GENERATOR], options);
      void generator.exited.then(onLine);
    });
  }

  /** Waits for the work that a subject defers, so that it does not slow down the next subject. */
  async #waitUntilIndexed({ title, db }) {
    const since = performance.now();
    if (!(await waitUntil(async () => !(await hasUnindexed(db)), INDEXED))) {
      this.report(`${title} did not make all items searchable within a minute`);
    }
    return performance.now() - since;
  }

  /** Requires that every create with a 200 is stored and, beyond those, at most the ones with an unknown outcome. */
  async #checkStored(subject, countBefore, { creates, steadyCreates }, expected) {
    const { title } = subject;
    const responses = { ...creates.responses };
    for (const [status, count] of Object.entries(steadyCreates?.responses ?? {}))
      responses[status] = (responses[status] ?? 0) + count;
    const { 200: created = 0, 503: refused = 0, ...others } = responses;
    const unknown = sum(others);
    let stored = (await countItems(subject)) - countBefore;
    // Creates with an unknown outcome may still be stored, and must not count towards the next load.
    if (stored !== created || unknown > 0) {
      await delay(RECOUNT_MS);
      stored = (await countItems(subject)) - countBefore;
    }
    if (stored < created || stored > created + unknown) {
      this.report(`${title} stored ${stored} items and returned 200 for ${created}`);
    }
    const isExpected = Object.keys(others).every((status) => status === expected);
    if (refused > 0 || !isExpected) this.remarks.push(`${title} responded with ${JSON.stringify(responses)}`);
  }

  /** Requires 200s only: the requests have been checked, and a fast rejection must not count as speed. */
  #checkReads({ title }, { responses }) {
    if (!responses[200] || Object.keys(responses).length > 1)
      this.report(`${title} responded to reads with ${JSON.stringify(responses)}`);
  }
}

/** Returns how many items a subject has, without reading them. */
function countItems({ db }) {
  return db.collection('items').estimatedDocumentCount();
}

/**
 * Returns whether an item has no search terms yet. Looks at the newest item first: a scan for any such item would pass
 * over the removed index keys of all items that were indexed just before.
 */
async function hasUnindexed(db) {
  const items = db.collection('items');
  const newest = await items.findOne({}, { projection: { searchVersion: 1 }, sort: { publicId: -1 } });
  if (newest !== null && !newest.searchVersion) return true;
  return (await items.findOne({ searchVersion: { $in: [null, 0] } }, { projection: { _id: 1 } })) !== null;
}

function sum(counts) {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

/** Returns an object with the same keys. */
export function mapValues(object, transform) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, transform(value, name)]));
}
