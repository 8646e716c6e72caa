import { setTimeout as delay } from 'node:timers/promises';
import {
  CREATES_PER_SECOND,
  megabytes,
  milliseconds,
  MONGODB_CPU_PER_CREATE,
  P99_OF_STEADY_READS,
} from './figures.mjs';
import { titleOf } from './subjects.mjs';

/** The service's `CREATE_WAIT_MS`, or its default. */
const CREATE_WAIT_MS = Number(process.env.CREATE_WAIT_MS || 10_000);
const STABLE_MS = 1000;

const SEARCHABLE_PER_SECOND = {
  ...CREATES_PER_SECOND,
  title: 'creates/s until search finds them all',
  of: ({ creates: { responses, lastMs }, indexedMs }) => (responses[200] * 1000) / (lastMs + indexedMs),
};
const P50 = milliseconds('p50', ({ creates }) => creates.ms.p50);
const P99 = milliseconds('p99', ({ creates }) => creates.ms.p99);
const LAST_RESPONSE = milliseconds('last response', ({ creates }) => creates.lastMs);
const LONGEST_WAIT = milliseconds('longest wait', ({ creates }) => creates.ms.max);

/** Figures of steady loads: each peer, the quantity that is compared, and the "must" and "aim" of the ratio. */
const ALL = [
  ['tutorial', CREATES_PER_SECOND, 2, 4],
  ['minimal', CREATES_PER_SECOND, 1.15, 2],
  ['direct', SEARCHABLE_PER_SECOND, 2, 3],
  ['withoutSearch', SEARCHABLE_PER_SECOND, 1.9, 2.5],
];
const COMPARISONS = {
  single: [['direct', P50, 1.2, 0.8]],
  64: [
    ['direct', CREATES_PER_SECOND, 3.3, 5],
    ['withoutSearch', CREATES_PER_SECOND, 3, 4],
    ...ALL,
    ['direct', P99, 0.4, 0.15],
  ],
  256: [
    ['direct', CREATES_PER_SECOND, 3.5, 6],
    ['withoutSearch', CREATES_PER_SECOND, 3.2, 5],
    ...ALL,
    ['direct', P99, 0.5, 0.2],
  ],
  always: [['direct', CREATES_PER_SECOND, 1.2, 2]],
  trees: [
    ['other', CREATES_PER_SECOND, 0.95, 1],
    ['other', SEARCHABLE_PER_SECOND],
    ['other', MONGODB_CPU_PER_CREATE],
  ],
};

/**
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Record<string, import('./figures.mjs').Group & {isListed?: boolean}>} `isListed`: the table and the plots have
 *   its absolute values
 */
export function groupsOf({ databases, size, options: { against, keyed } }) {
  const steady = (connections, ms = size.ms) => ({ creates: { connections, warmUpMs: size.warmUpMs, ms, keyed } });
  const compare = (load, comparisons, { note = '', ...more } = {}) => ({
    variants: Object.fromEntries(['service', ...comparisons.map(([peer]) => peer)].map((name) => [name, load])),
    figures: comparisons.map(([peer, figure, must, aim]) => {
      const { connections } = load.creates;
      const clients = connections === 1 ? '1 connection' : `${connections} connections`;
      const title = `${figure.title}, ${clients}${note}, against ${titleOf(peer)}`;
      return { ...figure, title, against: peer, must, aim };
    }),
    ...more,
  });
  const appendFsync = (when) => () => databases.redis.config('SET', 'appendfsync', when);
  const always = { note: ', `appendfsync always`', before: appendFsync('always'), after: appendFsync('everysec') };
  return {
    // First, because checkpoints of the large loads take longer than one create.
    single: compare(steady(1, size.singleMs), COMPARISONS.single),
    'creates-64': compare(steady(64), COMPARISONS[64], { isListed: true }),
    'creates-256': compare(steady(256), COMPARISONS[256], { isListed: true }),
    'always-64': compare(steady(64), COMPARISONS.always, always),
    'always-256': compare(steady(256), COMPARISONS.always, always),
    unknown: unknownReferences(steady(256), size.rounds),
    validator: validator(databases, steady(64), size.rounds),
    burst: burst(size, keyed),
    'burst-10000': largeBurst(size, keyed),
    deadlines: deadlines(size, keyed),
    ...(against && {
      'against-64': compare(steady(64), COMPARISONS.trees, { isListed: true }),
      'against-256': compare(steady(256), COMPARISONS.trees, { isListed: true }),
    }),
  };
}

/**
 * The contract accepts brands and conditions that do not exist. They must not cost a lookup each. What they cost is less
 * than the difference between two rounds.
 */
function unknownReferences({ creates }, rounds) {
  const title = 'creates/s, 256 connections, no brand and no condition known, against all known';
  return {
    variants: {
      unknown: { subject: 'service', creates: { ...creates, isUnknown: true } },
      known: { subject: 'service', creates },
    },
    rounds: 2 * rounds,
    figures: [{ ...CREATES_PER_SECOND, title, variant: 'unknown', against: 'known', must: 0.95, aim: 1 }],
  };
}

/**
 * MongoDB checks every item against the validator of the collection. This costs less than the difference between two
 * runs, so the validator is switched on and off while the same processes run.
 */
function validator(databases, load, rounds) {
  const title = 'creates/s, 64 connections, with the validator against without';
  const setLevel = (validationLevel) => databases.db('service').command({ collMod: 'items', validationLevel });
  return {
    variants: { moderate: { subject: 'service', ...load }, off: { subject: 'service', ...load } },
    rounds: 2 * rounds,
    before: setLevel,
    after: () => setLevel('moderate'),
    figures: [{ ...CREATES_PER_SECOND, title, variant: 'moderate', against: 'off', must: 0.98, aim: 1 }],
  };
}

/** Uploads in a burst, with steady reads alongside. */
function burst({ bursts, idleMs }, keyed) {
  const creates = { connections: 200, rate: 3000, count: 3000, keyed };
  const steadyReads = { rate: 100 };
  const idle = { steadyReads: { ...steadyReads, ms: idleMs } };
  const p99 = { ...P99_OF_STEADY_READS, title: 'p99 of getById against idle' };
  const figures = [
    { ...responses(creates, [200]), must: 95, aim: 100 },
    { ...responses(creates, [200, 503]), must: 100, aim: 100 },
    { ...LONGEST_WAIT, must: CREATE_WAIT_MS + 1000, isWorst: true },
    { ...LAST_RESPONSE, aim: 3000, isWorst: true },
    { ...LAST_RESPONSE, title: 'last response against (a)', against: 'direct', must: 0.5, aim: 0.25 },
    { ...p99, against: 'idle', must: 10, aim: 3 },
    { ...p99, title: `${p99.title}, of (a)`, variant: 'direct', against: 'direct idle' },
    ...memory({ must: 300, aim: 180 }),
  ];
  return {
    variants: {
      idle: { subject: 'service', ...idle },
      service: { creates, steadyReads },
      'direct idle': { subject: 'direct', ...idle },
      direct: { creates, steadyReads },
    },
    rounds: bursts,
    figures: prefixed('3,000 creates in 1 s over 200 connections', figures),
  };
}

/**
 * More creates in two seconds than the service can store in that time. Those that are not stored must be refused, and
 * those that wait must not pile up in memory.
 */
function largeBurst({ largeBursts }, keyed) {
  const creates = { connections: 1000, rate: 5000, count: 10_000, keyed };
  const figures = [
    responses(creates, [200]),
    { ...responses(creates, [200, 503]), must: 100, aim: 100 },
    { ...LAST_RESPONSE, isWorst: true },
    ...memory({ must: 300, aim: 200 }),
  ];
  return {
    variants: { service: { creates } },
    rounds: largeBursts,
    figures: prefixed('10,000 creates in 2 s over 1,000 connections', figures),
  };
}

/**
 * A thousand concurrent creates alongside steady reads. Each create states how long it waits, and the service has to
 * respond by then, however busy it is. While the worker is stopped, no create gets its item in time.
 */
function deadlines({ largeBursts }, keyed) {
  const waitS = 3;
  const creates = { connections: 1000, count: 1000, waitS, keyed };
  const load = { subject: 'service', steadyReads: { rate: 200 } };
  const lateness = ({ creates: { ms } }) => Math.max(0, ms.max - waitS * 1000);
  const figure = { ...milliseconds('', lateness), must: 300, aim: 100, isWorst: true };
  const title = `1,000 creates at once alongside 200 reads/s, each with ${waitS} s`;
  const latest = 'latest response after its deadline';
  return {
    variants: {
      working: { ...load, creates },
      stopped: { ...load, creates: { ...creates, expected: '504' } },
    },
    rounds: largeBursts,
    before: (variant, { pids }) => variant === 'stopped' && process.kill(pids.worker, 'SIGSTOP'),
    after: (variant, subject) => variant === 'stopped' && resumeWorker(subject),
    figures: [
      { ...figure, title: `${title}: ${latest}`, variant: 'working' },
      { ...figure, title: `${title}, while the worker is stopped: ${latest}`, variant: 'stopped' },
    ],
  };
}

/** Waits until the worker has caught up, so that its writes do not affect the next load. */
async function resumeWorker({ pids, countItems, hasUnindexed }) {
  process.kill(pids.worker, 'SIGCONT');
  for (let before = -1, now = 0; before !== now || (await hasUnindexed()); now = await countItems()) {
    before = now;
    await delay(STABLE_MS);
  }
}

function prefixed(prefix, figures) {
  return figures.map((figure) => ({ ...figure, title: `${prefix}: ${figure.title}` }));
}

function memory(targets) {
  return Object.entries({ api: 'API', worker: 'worker' }).map(([name, title]) => ({
    ...milliseconds(`most memory of the ${title}`, ({ peakMegabytes }) => peakMegabytes[name]),
    format: megabytes,
    isWorst: true,
    ...targets,
  }));
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
