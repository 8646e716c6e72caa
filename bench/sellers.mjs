import { SignJWT } from 'jose';
import {
  CPU_PER_CREATE,
  CREATES_PER_SECOND,
  LAST_RESPONSE,
  milliseconds,
  number,
  ratio,
  READS_PER_SECOND,
} from './figures.mjs';
import { measureGroups, sameLoad } from './groups.mjs';
import { startSubjects } from './subjects.mjs';

const SECRET = 'the secret of the benchmark of sellers';
const CLAIMS = { iss: 'https://issuer.example', aud: 'item-listing', scope: 'items:create', exp: 4_000_000_000 };
const AUTH = { AUTH_JWT_SECRET: SECRET, AUTH_ISSUER: CLAIMS.iss, AUTH_AUDIENCE: CLAIMS.aud };
const LARGE = await Promise.all(Array.from({ length: 10 }, (_, index) => token(`large-${index}`)));
/** Limits that are never reached. */
const REQUESTS = { RATE_LIMIT_GETBYID: '1000000000/60' };
const ALL_LIMITS = { ...REQUESTS, RATE_LIMIT_BYTES: '100000000000/60', RATE_LIMIT_CONCURRENT: '1000' };
const CONNECTIONS = 64;
/** What waits while the quiet seller creates. */
const WAITING = 5000;
const QUIET_RATE = 40;
const QUIET = { tokens: [await token('quiet')], rate: QUIET_RATE, ms: 2500 };
const P99 = milliseconds('p99 of a create of a quiet seller', ({ steadyCreates }) => steadyCreates.ms.p99);

/** Measures what authentication and rate limits cost, and how much sellers with many waiting creates slow others. */
export async function measure(bench) {
  const names = ['service', ...(bench.options.against ? ['other'] : [])];
  const subjects = await startSubjects(bench, names, [
    { name: 'fair', env: AUTH, tokens: LARGE },
    { name: 'unfair', env: { ...AUTH, SELLER_BACKLOG_LIMIT: '0' }, tokens: LARGE },
    { name: 'requests', env: REQUESTS },
    { name: 'all', env: ALL_LIMITS },
  ]);
  const warmUp = { connections: CONNECTIONS, ms: bench.size.initialWarmUpMs };
  await bench.meter.warmUp(Object.values(subjects), { creates: warmUp });
  await bench.meter.warmUp(Object.values(subjects), { reads: warmUp });
  const { rows } = await measureGroups(bench, subjects, groupsOf(bench));
  return { notes: [`The quiet seller sends ${QUIET_RATE} creates per second, one at a time.`], rows };
}

function groupsOf({ meter, size: { warmUpMs, ms, rounds }, options: { against } }) {
  const burst = { connections: 256, count: WAITING, waitS: 10, tokens: LARGE.slice(0, 1) };
  const waiting = { one: LARGE.slice(0, 1), ten: LARGE, unfair: LARGE.slice(0, 1) };
  const closed = { connections: CONNECTIONS, warmUpMs, ms };
  const quiet = { subject: 'fair', steadyCreates: QUIET };
  const many = `${number(WAITING)} creates`;
  const compare =
    (figure) =>
    (more, ...rest) =>
      ratio(figure, `, ${CONNECTIONS} connections, ${more}`, ...rest);
  const creates = compare(CREATES_PER_SECOND);
  const reads = compare(READS_PER_SECOND);
  return {
    'a quiet seller': {
      variants: { ...sameLoad(['idle', 'one', 'ten'], quiet), unfair: { ...quiet, subject: 'unfair' } },
      before: async (variant, subject) => {
        if (variant === 'idle') return;
        await meter.fillQueue(subject, { connections: CONNECTIONS, count: WAITING, tokens: waiting[variant] });
      },
      after: (_, subject) => meter.waitUntilIdle(subject),
      figures: [
        ratio(P99, ` while ${many} of another seller wait, against idle`, ['one', 'idle'], 4, 1.5),
        ratio(P99, ` while ${many} of ten other sellers wait, against idle`, ['ten', 'idle'], 5, 2),
        ratio(P99, ` while ${many} of another seller wait, against first in, first out`, ['one', 'unfair']),
      ],
    },
    'a large seller': {
      variants: {
        alone: { subject: 'fair', creates: burst },
        beside: { ...quiet, creates: burst },
      },
      figures: [
        ratio(LAST_RESPONSE, ` to ${many} at once alongside a quiet seller, against alone`, ['beside', 'alone'], 1.25),
      ],
    },
    creates: {
      variants: sameLoad(['service', 'fair', 'unfair'], { creates: closed }),
      figures: [
        creates('fair queueing against first in, first out', ['fair', 'unfair'], 0.9, 0.98),
        creates('with tokens against without authentication', ['unfair', 'service']),
      ],
    },
    getById: {
      variants: sameLoad(['service', 'fair', 'requests', 'all'], { reads: closed }),
      figures: [
        reads('with a token against without authentication', ['fair', 'service'], 0.8, 0.92),
        reads('with `RATE_LIMIT_GETBYID` against without limits', ['requests', 'service'], 0.7, 0.85),
        reads('with limits of requests, bytes and concurrency against without', ['all', 'service'], 0.7, 0.85),
      ],
    },
    // A difference of a few percent needs more rounds.
    ...(against && {
      'another tree': {
        variants: sameLoad(['service', 'other'], { creates: closed }),
        rounds: 3 * rounds,
        figures: [
          creates('with everything off, against the other tree', ['service', 'other'], 0.98, 1),
          compare(CPU_PER_CREATE)('with everything off, against the other tree', ['service', 'other']),
        ],
      },
    }),
  };
}

function token(sub) {
  const jwt = new SignJWT({ ...CLAIMS, sub }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' });
  return jwt.sign(Buffer.from(SECRET));
}
