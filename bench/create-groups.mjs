import { burst } from './burst.mjs';
import { deadlines } from './deadlines.mjs';
import { largeBurst } from './large-burst.mjs';
import { interleave } from './rounds.mjs';
import { compared, duration, faster, mongodbCpu, rate, slower } from './rows.mjs';

const ALL_SUBJECTS = ['service', 'direct', 'withoutSearch', 'tutorial', 'minimal'];
const PAIR = ['service', 'direct'];
const TREES = ['service', 'other'];

const UNKNOWN_CONNECTIONS = 256;
const VALIDATED_CONNECTIONS = 64;

/** The targets by number of connections. */
const TARGETS = {
  64: { direct: { must: 3.3, aim: 5 }, withoutSearch: { must: 3, aim: 4 }, p99: { must: 0.4, aim: 0.15 } },
  256: { direct: { must: 3.5, aim: 6 }, withoutSearch: { must: 3.2, aim: 5 }, p99: { must: 0.5, aim: 0.2 } },
};

/** The targets for creates until search finds all of them. */
const SEARCHABLE = { direct: { must: 2, aim: 3 }, withoutSearch: { must: 1.9, aim: 2.5 } };

/**
 * What a group of rows needs to measure.
 * @typedef {object} Bench
 * @property {import('./databases.mjs').Databases} databases
 * @property {Record<string, import('./subjects.mjs').Subject>} subjects
 * @property {import('./meter.mjs').Meter} meter
 * @property {typeof import('./create.mjs').FULL} size
 * @property {{connections: number, title: string, rounds: import('./meter.mjs').Measured[]}[]} loads all results
 * @property {Record<string, string>} plots SVGs by name
 */

/**
 * Groups of rows that are measured together, with the subjects that each group needs.
 * @type {Record<string, {subjects: string[], measure: (bench: Bench) => Promise<import('./rows.mjs').Row[]>}>}
 */
export const GROUPS = {
  // First, because checkpoints of the large loads take longer than one create.
  single: { subjects: PAIR, measure: single },
  'creates-64': { subjects: ALL_SUBJECTS, measure: (bench) => creates(bench, 64) },
  'creates-256': { subjects: ALL_SUBJECTS, measure: (bench) => creates(bench, 256) },
  'always-64': { subjects: PAIR, measure: (bench) => flushedAlways(bench, 64) },
  'always-256': { subjects: PAIR, measure: (bench) => flushedAlways(bench, 256) },
  unknown: { subjects: ['service'], measure: unknownReferences },
  validator: { subjects: ['service'], measure: validated },
  burst: { subjects: PAIR, measure: burst },
  'burst-10000': { subjects: ['service'], measure: largeBurst },
  deadlines: { subjects: ['service'], measure: deadlines },
};

/** Groups that compare two checkouts of the service. Available only with `--against`. */
export const TREE_GROUPS = {
  'against-64': { subjects: TREES, measure: (bench) => trees(bench, 64) },
  'against-256': { subjects: TREES, measure: (bench) => trees(bench, 256) },
};

async function creates(bench, connections) {
  const targets = TARGETS[connections];
  const results = await steadily(bench, ALL_SUBJECTS, connections);
  keepLoads(bench, connections, results);
  const figure = (peer) => `creates/s, ${connections} connections, against ${bench.subjects[peer].title}`;
  return [
    faster(results, 'direct', { figure: figure('direct'), ...targets.direct }),
    faster(results, 'withoutSearch', { figure: figure('withoutSearch'), ...targets.withoutSearch }),
    faster(results, 'tutorial', { figure: figure('tutorial'), must: 2, aim: 4 }),
    faster(results, 'minimal', { figure: figure('minimal'), must: 1.15, aim: 2 }),
    faster(
      results,
      'direct',
      { figure: `${figure('direct')}, until search finds them all`, ...SEARCHABLE.direct },
      perSecondUntilIndexed,
    ),
    faster(
      results,
      'withoutSearch',
      { figure: `${figure('withoutSearch')}, until search finds them all`, ...SEARCHABLE.withoutSearch },
      perSecondUntilIndexed,
    ),
    slower(results, p99, { figure: `p99, ${connections} connections, against (a)`, ...targets.p99 }),
  ];
}

async function trees(bench, connections) {
  const results = await steadily(bench, TREES, connections);
  keepLoads(bench, connections, results);
  const figure = `creates/s, ${connections} connections, against the other tree`;
  return [
    faster(results, 'other', { figure, must: 0.95, aim: 1 }),
    faster(results, 'other', { figure: `${figure}, until search finds them all` }, perSecondUntilIndexed),
    compared(results.service.map(mongodbCpu), results.other.map(mongodbCpu), duration, {
      figure: `MongoDB's CPU per create with its indexing, ${connections} connections, against the other tree`,
      better: 'less',
    }),
  ];
}

function keepLoads({ loads, subjects }, connections, results) {
  for (const [name, rounds] of Object.entries(results)) {
    loads.push({ connections, title: subjects[name].title, rounds });
  }
}

async function flushedAlways(bench, connections) {
  await bench.databases.appendFsync('always');
  const results = await steadily(bench, PAIR, connections);
  await bench.databases.appendFsync('everysec');
  const figure = `creates/s, ${connections} connections, \`appendfsync always\`, against (a)`;
  return [faster(results, 'direct', { figure, must: 1.2, aim: 2 })];
}

/** The contract accepts brands and conditions that do not exist. They must not cost a lookup each. */
async function unknownReferences({ meter, subjects, size }) {
  const steady = { connections: UNKNOWN_CONNECTIONS, warmUpMs: size.warmUpMs, ms: size.ms };
  const { unknown, known } = await interleave(['unknown', 'known'], size.rounds, (name) =>
    meter.measure(subjects.service, { steady, isUnknown: name === 'unknown' }),
  );
  const figure = `creates/s, ${UNKNOWN_CONNECTIONS} connections, no brand and no condition known, against all known`;
  return [compared(unknown.map(perSecond), known.map(perSecond), rate, { figure, better: 'more', must: 0.95, aim: 1 })];
}

/**
 * MongoDB checks every item against the validator of the collection. This costs less than the difference between two
 * runs, so the validator is switched on and off while the same processes run.
 */
async function validated({ databases, meter, subjects: { service }, size }) {
  const steady = { connections: VALIDATED_CONNECTIONS, warmUpMs: size.warmUpMs, ms: size.ms };
  const { moderate, off } = await interleave(['moderate', 'off'], 4 * size.rounds, async (validationLevel) => {
    await databases.db(service.name).command({ collMod: 'items', validationLevel });
    return meter.measure(service, { steady });
  });
  await databases.db(service.name).command({ collMod: 'items', validationLevel: 'moderate' });
  const figure = `creates/s, ${VALIDATED_CONNECTIONS} connections, with the validator against without`;
  return [compared(moderate.map(perSecond), off.map(perSecond), rate, { figure, better: 'more', must: 0.98, aim: 1 })];
}

async function single(bench) {
  const results = await steadily(bench, PAIR, 1, bench.size.singleMs);
  return [slower(results, p50, { figure: 'p50, 1 connection, against (a)', must: 1.2, aim: 0.8 })];
}

function steadily({ meter, subjects, size }, names, connections, ms = size.ms) {
  const load = { steady: { connections, warmUpMs: size.warmUpMs, ms } };
  return interleave(names, size.rounds, (name) => meter.measure(subjects[name], load));
}

/** Returns creates per second, including the time until search finds all of them. */
function perSecondUntilIndexed({ creates: { responses, lastMs }, indexedMs }) {
  return (responses[200] * 1000) / (lastMs + indexedMs);
}

function perSecond({ creates }) {
  return creates.perSecond;
}

function p50({ creates }) {
  return creates.ms.p50;
}

function p99({ creates }) {
  return creates.ms.p99;
}
