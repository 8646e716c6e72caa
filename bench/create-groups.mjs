import * as figures from './figures.mjs';
import { sameLoad } from './groups.mjs';
import { titleOf } from './subjects.mjs';

/** The service's `CREATE_WAIT_MS`, or its default. */
const CREATE_WAIT_MS = Number(process.env.CREATE_WAIT_MS || 10_000);
const WAIT_S = 3;

const { CREATES_PER_SECOND, LAST_RESPONSE, milliseconds, P50, P99, P99_OF_STEADY_READS, peakMemory, ratio } = figures;
const SEARCHABLE_PER_SECOND = {
  ...CREATES_PER_SECOND,
  title: 'creates/s until search finds them all',
  of: ({ creates: { responses, lastMs }, indexedMs }) => (responses[200] * 1000) / (lastMs + indexedMs),
};

/** Figures of steady loads: each peer, the quantity that is compared, and the "must" and "aim" of the ratio. */
const comparisons = (direct, withoutSearch, p99) => [
  ['direct', CREATES_PER_SECOND, ...direct],
  ['withoutSearch', CREATES_PER_SECOND, ...withoutSearch],
  ['tutorial', CREATES_PER_SECOND, 2, 4],
  ['minimal', CREATES_PER_SECOND, 1.15, 2],
  ['direct', SEARCHABLE_PER_SECOND, 2, 3],
  ['withoutSearch', SEARCHABLE_PER_SECOND, 1.9, 2.5],
  ['direct', P99, ...p99],
];
const OF_TREES = [
  ['other', CREATES_PER_SECOND, 0.95, 1],
  ['other', SEARCHABLE_PER_SECOND],
  ['other', figures.CPU_PER_CREATE],
  ['other', figures.MONGODB_CPU_PER_CREATE],
];

/** @returns {Record<string, import('./groups.mjs').Group>} the groups of a {@link import('./run.mjs').Bench} */
export function groupsOf({ databases, meter, size, options: { against } }) {
  const compare = (connections, comparisons, { note = '', ms = size.ms, ...more } = {}) => ({
    variants: sameLoad(['service', ...comparisons.map(([peer]) => peer)], {
      creates: { connections, warmUpMs: size.warmUpMs, ms },
    }),
    figures: comparisons.map(([peer, figure, ...targets]) => {
      const clients = connections === 1 ? '1 connection' : `${connections} connections`;
      return ratio(figure, `, ${clients}${note}, against ${titleOf(peer)}`, ['service', peer], ...targets);
    }),
    ...more,
  });
  const appendFsync = (when) => () => databases.redis.config('SET', 'appendfsync', when);
  const synced = { note: ', `appendfsync always`', before: appendFsync('always'), after: appendFsync('everysec') };
  const always = (connections) => compare(connections, [['direct', CREATES_PER_SECOND, 1.2, 2]], synced);
  return {
    // First, because checkpoints of the large loads take longer than one create.
    single: compare(1, [['direct', P50, 1.2, 0.8]], { ms: size.singleMs }),
    'creates-64': compare(64, comparisons([3.3, 5], [3, 4], [0.4, 0.15])),
    'creates-256': compare(256, comparisons([3.5, 6], [3.2, 5], [0.5, 0.2])),
    'always-64': always(64),
    'always-256': always(256),
    unknown: unknownReferences(size),
    validator: validator(size),
    burst: burst(size),
    'burst-10000': largeBurst(size),
    deadlines: deadlines(size, meter),
    ...(against && { 'against-64': compare(64, OF_TREES), 'against-256': compare(256, OF_TREES) }),
  };
}

/**
 * The contract accepts brands and conditions that do not exist. They must not cost a lookup each. What they cost is less
 * than the difference between two rounds.
 */
function unknownReferences({ warmUpMs, ms, rounds }) {
  const load = { subject: 'service', creates: { connections: 256, warmUpMs, ms } };
  const more = ', 256 connections, no brand and no condition known, against all known';
  return {
    variants: { unknown: { ...load, creates: { ...load.creates, isUnknown: true } }, known: load },
    rounds: 2 * rounds,
    figures: [ratio(CREATES_PER_SECOND, more, ['unknown', 'known'], 0.95, 1)],
  };
}

/**
 * MongoDB checks every item against the validator of the collection. This costs less than the difference between two
 * runs, so the validator is switched on and off while the same processes run, often enough that other work on the
 * machine affects both alike.
 */
function validator({ warmUpMs, ms, rounds }) {
  const setLevel = (level, { db }) => db.command({ collMod: 'items', validationLevel: level });
  const more = ', 64 connections, with the validator against without';
  const creates = { connections: 64, warmUpMs: warmUpMs / 4, ms: ms / 4 };
  return {
    variants: sameLoad(['moderate', 'off'], { subject: 'service', creates }),
    rounds: 8 * rounds,
    before: setLevel,
    after: (_, subject) => setLevel('moderate', subject),
    figures: [
      ratio(CREATES_PER_SECOND, more, ['moderate', 'off'], 0.98, 1),
      ratio(figures.MONGODB_CPU_PER_CREATE, more, ['moderate', 'off']),
    ],
  };
}

/** Uploads in a burst, with steady reads alongside. */
function burst({ bursts, idleMs }) {
  const load = { creates: { connections: 200, rate: 3000, count: 3000 }, steadyReads: { rate: 100 } };
  const idle = { steadyReads: { ...load.steadyReads, ms: idleMs } };
  return {
    variants: {
      idle: { subject: 'service', ...idle },
      service: load,
      'direct idle': { subject: 'direct', ...idle },
      direct: load,
    },
    rounds: bursts,
    figures: prefixed('3,000 creates in 1 s over 200 connections', [
      { ...responses(load.creates, [200]), must: 95, aim: 100 },
      { ...responses(load.creates, [200, 503]), must: 100, aim: 100 },
      { ...milliseconds('longest wait', ({ creates }) => creates.ms.max), must: CREATE_WAIT_MS + 1000, isWorst: true },
      { ...LAST_RESPONSE, aim: 3000, isWorst: true },
      ratio(LAST_RESPONSE, ' against (a)', ['service', 'direct'], 0.5, 0.25),
      ratio(P99_OF_STEADY_READS, ' against idle', ['service', 'idle'], 10, 3),
      ratio(P99_OF_STEADY_READS, ' against idle, of (a)', ['direct', 'direct idle']),
      peakMemory('most memory of the API', 'api', { must: 300, aim: 180 }),
      peakMemory('most memory of the worker', 'worker', { must: 300, aim: 180 }),
    ]),
  };
}

/**
 * More creates in two seconds than the service can store in that time. Those that are not stored must be refused, and
 * those that wait must not pile up in memory.
 */
function largeBurst({ largeBursts }) {
  const creates = { connections: 1000, rate: 5000, count: 10_000 };
  return {
    variants: { service: { creates } },
    rounds: largeBursts,
    figures: prefixed('10,000 creates in 2 s over 1,000 connections', [
      responses(creates, [200]),
      { ...responses(creates, [200, 503]), must: 100, aim: 100 },
      { ...LAST_RESPONSE, isWorst: true },
      peakMemory('most memory of the API', 'api', { must: 300, aim: 200 }),
      peakMemory('most memory of the worker', 'worker', { must: 300, aim: 200 }),
    ]),
  };
}

/**
 * A thousand concurrent creates alongside steady reads. Each create states how long it waits, and the service has to
 * respond by then, however busy it is. While the worker is stopped, no create gets its item in time.
 */
function deadlines({ largeBursts }, meter) {
  const creates = { connections: 1000, count: 1000, waitS: WAIT_S };
  const load = { subject: 'service', steadyReads: { rate: 200 } };
  const title = `1,000 creates at once alongside 200 reads/s, each with ${WAIT_S} s`;
  const lateness = milliseconds('latest response after its deadline', ({ creates: { ms } }) =>
    Math.max(0, ms.max - WAIT_S * 1000),
  );
  const figure = { ...lateness, must: 300, aim: 100, isWorst: true };
  return {
    variants: {
      working: { ...load, creates },
      stopped: { ...load, creates: { ...creates, expected: '504' } },
    },
    rounds: largeBursts,
    before: (variant, { pids }) => variant === 'stopped' && process.kill(pids.worker, 'SIGSTOP'),
    after: async (variant, subject) => {
      if (variant !== 'stopped') return;
      process.kill(subject.pids.worker, 'SIGCONT');
      await meter.waitUntilIdle(subject);
    },
    figures: [
      ...prefixed(title, [{ ...figure, variant: 'working' }]),
      ...prefixed(`${title}, while the worker is stopped`, [{ ...figure, variant: 'stopped' }]),
    ],
  };
}

function prefixed(prefix, list) {
  return list.map((figure) => ({ ...figure, title: `${prefix}: ${figure.title}` }));
}

/** Returns the figure for the share of the creates with one of these statuses. */
function responses({ count }, statuses) {
  return {
    title: `${statuses.join(' and ')} responses`,
    of: ({ creates }) => statuses.reduce((sum, status) => sum + (creates.responses[status] ?? 0), 0) / (count / 100),
    format: (value) => `${value.toFixed(2)} %`,
    better: 'more',
    isWorst: true,
  };
}
