import * as figures from './figures.mjs';
import { sameLoad } from './groups.mjs';
import { titleOf } from './subjects.mjs';

/** The service's `CREATE_WAIT_MS`, or its default. */
const CREATE_WAIT_MS = Number(process.env.CREATE_WAIT_MS || 10_000);
const WAIT_S = 3;

const { CREATES_PER_SECOND, LAST_RESPONSE, P99_OF_STEADY_READS } = figures;
const SEARCHABLE_PER_SECOND = {
  ...CREATES_PER_SECOND,
  title: 'creates/s until search finds them all',
  of: ({ creates: { responses, lastMs }, indexedMs }) => (responses[200] * 1000) / (lastMs + indexedMs),
};
const P50 = figures.milliseconds('p50', ({ creates }) => creates.ms.p50);
const P99 = figures.milliseconds('p99', ({ creates }) => creates.ms.p99);
const LONGEST_WAIT = figures.milliseconds('longest wait', ({ creates }) => creates.ms.max);
const AFTER_DEADLINE = figures.milliseconds('latest response after its deadline', ({ creates }) =>
  Math.max(0, creates.ms.max - WAIT_S * 1000),
);

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
const COMPARISONS = {
  single: [['direct', P50, 1.2, 0.8]],
  64: comparisons([3.3, 5], [3, 4], [0.4, 0.15]),
  256: comparisons([3.5, 6], [3.2, 5], [0.5, 0.2]),
  always: [['direct', CREATES_PER_SECOND, 1.2, 2]],
  trees: [
    ['other', CREATES_PER_SECOND, 0.95, 1],
    ['other', SEARCHABLE_PER_SECOND],
    ['other', figures.MONGODB_CPU_PER_CREATE],
  ],
};

/**
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Record<string, import('./groups.mjs').Group & {isListed?: boolean}>} `isListed`: the table and the plots have
 *   its absolute values
 */
export function groupsOf({ databases, meter, size, options: { against } }) {
  const steady = (connections, ms = size.ms) => ({ creates: { connections, warmUpMs: size.warmUpMs, ms } });
  const compare = (load, comparisons, { note = '', ...more } = {}) => ({
    variants: sameLoad(['service', ...comparisons.map(([peer]) => peer)], load),
    figures: comparisons.map(([peer, figure, ...targets]) => {
      const { connections } = load.creates;
      const clients = connections === 1 ? '1 connection' : `${connections} connections`;
      return figures.ratio(figure, `, ${clients}${note}, against ${titleOf(peer)}`, ['service', peer], ...targets);
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
    validator: validator(databases, steady(64), 2 * size.rounds),
    burst: burst(size),
    deadlines: deadlines(size, meter),
    ...(against && {
      'against-64': compare(steady(64), COMPARISONS.trees, { isListed: true }),
      'against-256': compare(steady(256), COMPARISONS.trees, { isListed: true }),
    }),
  };
}

/**
 * MongoDB checks every item against the validator of the collection. This costs less than the difference between two
 * runs, so the validator is switched on and off while the same processes run.
 */
function validator(databases, load, rounds) {
  const setLevel = (level, { db }) => db.command({ collMod: 'items', validationLevel: level });
  const more = ', 64 connections, with the validator against without';
  return {
    variants: sameLoad(['moderate', 'off'], { subject: 'service', ...load }),
    rounds,
    before: setLevel,
    after: (_, subject) => setLevel('moderate', subject),
    figures: [figures.ratio(CREATES_PER_SECOND, more, ['moderate', 'off'], 0.98, 1)],
  };
}

/** Uploads in a burst, with steady reads alongside. */
function burst({ bursts, idleMs }) {
  const creates = { connections: 200, rate: 3000, count: 3000 };
  const steadyReads = { rate: 100 };
  const idle = { steadyReads: { ...steadyReads, ms: idleMs } };
  const p99 = (more, variants, ...targets) => figures.ratio(P99_OF_STEADY_READS, more, variants, ...targets);
  return {
    variants: {
      idle: { subject: 'service', ...idle },
      service: { creates, steadyReads },
      'direct idle': { subject: 'direct', ...idle },
      direct: { creates, steadyReads },
    },
    rounds: bursts,
    figures: prefixed('3,000 creates in 1 s over 200 connections', [
      { ...responses(creates, [200]), must: 95, aim: 100 },
      { ...responses(creates, [200, 503]), must: 100, aim: 100 },
      { ...LONGEST_WAIT, must: CREATE_WAIT_MS + 1000, isWorst: true },
      { ...LAST_RESPONSE, aim: 3000, isWorst: true },
      figures.ratio(LAST_RESPONSE, ' against (a)', ['service', 'direct'], 0.5, 0.25),
      p99(' against idle', ['service', 'idle'], 10, 3),
      p99(' against idle, of (a)', ['direct', 'direct idle']),
      ...memory({ must: 300, aim: 180 }),
    ]),
  };
}

/**
 * A thousand concurrent creates alongside steady reads. Each create states how long it waits, and the service has to
 * respond by then, however busy it is. While the worker is stopped, no create gets its item in time.
 */
function deadlines({ deadlines: rounds }, meter) {
  const creates = { connections: 1000, count: 1000, waitS: WAIT_S };
  const load = { subject: 'service', steadyReads: { rate: 200 } };
  const title = `1,000 creates at once alongside 200 reads/s, each with ${WAIT_S} s`;
  const figure = { ...AFTER_DEADLINE, must: 300, aim: 100, isWorst: true };
  return {
    variants: {
      working: { ...load, creates },
      stopped: { ...load, creates: { ...creates, expected: '504' } },
    },
    rounds,
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

function memory(targets) {
  return Object.entries({ api: 'API', worker: 'worker' }).map(([name, title]) => ({
    ...figures.milliseconds(`most memory of the ${title}`, ({ peakMegabytes }) => peakMegabytes[name]),
    format: figures.megabytes,
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
