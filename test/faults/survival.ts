import { eventually } from '../support/eventually.js';
import type { Fault } from './faults.js';
import { Load, type Attempt } from './load.js';
import { Deployment } from './deployment.js';
import type { Stores } from './stores.js';
import { acceptedAndLost, describeAttempts, findAnomalies, isRefused, keysOf } from './anomalies.js';

const WARM_UP_ITEMS = 50;
const RECOVERED_WITHIN_MS = 15_000;
const SETTLED_WITHIN_MS = 30_000;
/** How many of the creates that returned 200 are repeated. */
const REPEATED = 100;
const NOTHING = { lost: [], duplicated: [], unrequested: [], notUnique: [], inconsistent: [], failedButStored: [] };

/** How the service survived a fault. */
export interface Survival {
  attempts: number;
  /** Numbers of creates that got a 200, that got a 202, and that got a 202 and were lost. */
  created: number;
  accepted: number;
  acceptedAndLost: number;
  /** From when the stores are restored to the first 200 for a create that is sent afterwards. */
  recoveredMs: number;
}

/** Causes a fault under load, and expects that every promise is kept. Restores the stores afterwards. */
export async function expectSurvived(stores: Stores, fault: Fault): Promise<Survival> {
  const deployment = await Deployment.start(stores, fault.env, fault.root);
  try {
    const survival = await expectSurvivedOn(deployment, fault);
    expect(await deployment.endProcesses()).toEqual([]);
    return survival;
  } finally {
    await deployment.restore().finally(() => deployment.end());
  }
}

async function expectSurvivedOn(deployment: Deployment, fault: Fault): Promise<Survival> {
  const load = new Load(() => deployment.apis.map(({ client }) => client));
  load.start();
  try {
    await waitForCreates(load, 0, WARM_UP_ITEMS);
    await fault.inject(deployment, load);
    const restoredAt = Date.now();
    await deployment.restore();
    await waitForCreates(load, restoredAt, 1);
    const recoveredMs = Date.now() - restoredAt;
    expect(recoveredMs).toBeLessThan(RECOVERED_WITHIN_MS);
    await waitForCreates(load, restoredAt, WARM_UP_ITEMS);
    await load.stop();
    if (fault.allowedStatuses !== undefined) expectStatuses(load, fault.allowedStatuses);
    const acceptedAndLost = await expectSettled(deployment, load, fault);
    const count = (status: number): number => keysOf(load.attempts.filter((each) => each.status === status)).length;
    const [created, accepted] = [count(200), count(202)];
    return { attempts: load.attempts.length, created, accepted, acceptedAndLost, recoveredMs };
  } finally {
    await load.stop();
  }
}

/** Waits until `count` creates that were sent after a given time have returned their items. */
async function waitForCreates(load: Load, after: number, count: number): Promise<void> {
  await eventually(() => {
    const done = load.attempts.filter(({ at, status }) => status === 200 && at >= after);
    if (done.length < count)
      throw new Error(`${String(done.length)} creates succeeded: ${describeAttempts(load, ['none'])}`);
  }, SETTLED_WITHIN_MS);
}

function expectStatuses(load: Load, allowed: Attempt['status'][]): void {
  const others = load.attempts.filter(({ status }) => !allowed.includes(status));
  expect(describeAttempts(load, keysOf(others))).toBe('[]');
}

/** Returns how many creates got a 202 and were lost. */
async function expectSettled(deployment: Deployment, load: Load, fault: Fault): Promise<number> {
  const open = [...load.byKey()].filter(([, attempts]) => !attempts.some(({ status }) => status === 200));
  const unknown = open.filter(([, attempts]) => attempts.some(({ status }) => status !== 202 && status !== 503));
  expect(
    await load.repeat(
      unknown.map(([key]) => key),
      SETTLED_WITHIN_MS,
    ),
  ).toEqual([]);
  await expectDrained(deployment);
  await expectNoAnomalies(deployment, load);
  const lost = await acceptedAndLost(load, deployment);
  if (!fault.losesAccepted) expect(describeAttempts(load, lost)).toBe('[]');
  // Repeats only every second create that was certainly refused: the others must not appear on their own.
  const refused = open.filter(([, attempts]) => attempts.every(isRefused)).map(([key]) => key);
  const again = [
    ...refused.filter((_, index) => index % 2 === 0),
    // A create without a key would store another item if it were repeated.
    ...keysOf(load.attempts.filter(({ status, isKeyed }) => status === 202 && isKeyed)),
    ...keysOf(load.attempts.filter(({ status }) => status === 200)).slice(-REPEATED),
  ];
  expect(await load.repeat(again, SETTLED_WITHIN_MS)).toEqual([]);
  await expectNoAnomalies(deployment, load);
  return lost.length;
}

async function expectDrained({ jobs: { queue } }: Deployment): Promise<void> {
  await eventually(async () => {
    const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized');
    expect(counts).toEqual({ wait: 0, active: 0, delayed: 0, prioritized: 0 });
  }, SETTLED_WITHIN_MS);
}

async function expectNoAnomalies(deployment: Deployment, load: Load): Promise<void> {
  const anomalies = await findAnomalies(load, deployment);
  const attempts = describeAttempts(load, Object.values(anomalies).flat() as string[]);
  expect({ ...anomalies, attempts }).toEqual({ ...NOTHING, attempts: '[]' });
}
