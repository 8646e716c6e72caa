import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { measureGroup, milliseconds, CREATES_PER_SECOND, READS_PER_SECOND } from './figures.mjs';
import { startSubjects } from './subjects.mjs';

export const FULL = { rounds: 9, warmUpMs: 1000, ms: 4000, initialWarmUpMs: 8000 };
export const QUICK = { rounds: 3, warmUpMs: 500, ms: 2000, initialWarmUpMs: 4000 };
const SECRET = 'the secret of the benchmark of sellers';
const CLAIMS = { iss: 'https://issuer.example', aud: 'item-listing', scope: 'items:create', exp: 4_000_000_000 };
const AUTH = { AUTH_JWT_SECRET: SECRET, AUTH_ISSUER: CLAIMS.iss, AUTH_AUDIENCE: CLAIMS.aud };
const CONNECTIONS = 64;
/** What waits while the quiet seller creates. */
const WAITING = 5000;
const QUIET_MS = 2500;
const QUIET_RATE = 40;
const DRAINED_AFTER_MS = 500;
const P99 = milliseconds('p99 of a create of a quiet seller', ({ steadyCreates }) => steadyCreates.ms.p99);

const LAST = milliseconds('last response', ({ creates }) => creates.lastMs);

/**
 * Measures what authentication costs, and how sellers with many waiting creates slow down another seller.
 * @param {import('./benchmark.mjs').Bench} bench
 * @returns {Promise<import('./report.mjs').Findings>}
 */
export async function measure(bench) {
  const { rounds, warmUpMs, ms, initialWarmUpMs } = bench.size;
  const large = Array.from({ length: 10 }, (_, index) => token(`large-${index}`));
  const closed = { connections: CONNECTIONS, warmUpMs, ms };
  const subjects = await startSubjects(
    bench,
    ['service'],
    [
      { name: 'fair', env: AUTH, token: token('first') },
      { name: 'unfair', env: { ...AUTH, SELLER_BACKLOG_LIMIT: '0' }, token: token('first') },
    ],
  );
  const callers = { service: {}, fair: { tokens: large }, unfair: { tokens: large } };
  for (const [name, subject] of Object.entries(subjects))
    await bench.meter.warmUp(
      { [name]: subject },
      { creates: { connections: CONNECTIONS, ...callers[name], ms: initialWarmUpMs } },
    );

  const steadyCreates = { tokens: [token('quiet')], rate: QUIET_RATE, ms: QUIET_MS };
  const burst = { connections: 256, count: WAITING, waitS: 10, tokens: large.slice(0, 1) };
  const waiting = { one: large.slice(0, 1), ten: large, unfair: large.slice(0, 1) };
  const quiet = (subject) => ({ subject, steadyCreates });
  const groups = {
    'a quiet seller': {
      variants: { idle: quiet('fair'), one: quiet('fair'), ten: quiet('fair'), unfair: quiet('unfair') },
      before: async (variant, subject) => {
        if (variant === 'idle') return;
        await bench.meter.fillQueue(subject, { connections: CONNECTIONS, count: WAITING, tokens: waiting[variant] });
      },
      after: (_variant, subject) => drained(subject, bench.meter),
      figures: [
        {
          ...P99,
          title: `${P99.title} while ${WAITING.toLocaleString('en')} creates of another seller wait, against idle`,
          variant: 'one',
          against: 'idle',
          must: 4,
          aim: 1.5,
        },
        {
          ...P99,
          title: `${P99.title} while ${WAITING.toLocaleString('en')} creates of ten other sellers wait, against idle`,
          variant: 'ten',
          against: 'idle',
          must: 5,
          aim: 2,
        },
        {
          ...P99,
          title: `${P99.title} while ${WAITING.toLocaleString('en')} creates of another seller wait, against first in, first out`,
          variant: 'one',
          against: 'unfair',
        },
      ],
    },
    'a large seller': {
      variants: {
        alone: { subject: 'fair', creates: burst },
        beside: { subject: 'fair', creates: burst, steadyCreates },
      },
      figures: [
        {
          ...LAST,
          title: `${LAST.title} to ${WAITING.toLocaleString('en')} creates at once alongside a quiet seller, against alone`,
          variant: 'beside',
          against: 'alone',
          must: 1.25,
        },
      ],
    },
    creates: {
      variants: Object.fromEntries(
        Object.keys(subjects).map((name) => [name, { creates: { ...closed, ...callers[name] } }]),
      ),
      figures: [
        {
          ...CREATES_PER_SECOND,
          title: `creates/s, ${CONNECTIONS} connections, fair queueing against first in, first out`,
          variant: 'fair',
          against: 'unfair',
          must: 0.9,
          aim: 0.98,
        },
        {
          ...CREATES_PER_SECOND,
          title: `creates/s, ${CONNECTIONS} connections, with tokens against without authentication`,
          variant: 'unfair',
          against: 'service',
        },
      ],
    },
    getById: {
      variants: Object.fromEntries(
        Object.entries(subjects).map(([name, { itemId }]) => {
          const reads = { operation: 'getById', inputs: [{ id: itemId }], token: callers[name].tokens?.[0], ...closed };
          return [name, { reads }];
        }),
      ),
      figures: [
        {
          ...READS_PER_SECOND,
          title: `getById/s, ${CONNECTIONS} connections, with a token against without authentication`,
          variant: 'fair',
          against: 'service',
          must: 0.8,
          aim: 0.92,
        },
      ],
    },
  };
  const rows = [];
  for (const [title, group] of Object.entries(groups))
    rows.push(...(await measureGroup(bench, subjects, title, group)).rows);
  const notes = [
    `${rounds} interleaved rounds. The quiet seller sends ${QUIET_RATE} creates per second, one at a time.`,
  ];
  return { notes, rows };
}

/** Waits until everything that waits is stored and indexed. */
async function drained(subject, meter) {
  for (let count = -1, next = 0; count !== next; await delay(DRAINED_AFTER_MS)) {
    count = next;
    next = await subject.countItems();
  }
  await meter.waitUntilIndexed(subject);
}

function token(sub) {
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${encode({ ...CLAIMS, sub })}`;
  return `${input}.${createHmac('sha256', SECRET).update(input).digest('base64url')}`;
}
