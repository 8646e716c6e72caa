import { eventually } from '../support/eventually.js';
import type { Fault } from './faults.js';
import { Load, type Attempt } from './load.js';
import { Stage } from './stage.js';
import type { Stores } from './stores.js';
import { acceptedAndLost, isCertainlyNot, keysOf, tell, verdictOn } from './verdict.js';

const WARM_ITEMS = 50;
const RECOVERED_WITHIN_MS = 15_000;
const SETTLED_WITHIN_MS = 30_000;
/** How many of the creates that returned 200 are repeated. */
const REPLAYED = 100;
const NOTHING = { lost: [], doubled: [], unasked: [], notUnique: [], unequal: [], failedThoughStored: [] };

/** Figures about a fault that was survived. */
export interface Survival {
  attempts: number;
  /** From the healing of the stores to the first response to a create that began after it. */
  recoveredMs: number;
}

/** Causes a fault under load, and expects that every promise is kept. Heals the stores afterwards. */
export async function expectSurvived(stores: Stores, fault: Fault): Promise<Survival> {
  const stage = await Stage.set(stores, fault.env);
  try {
    const survival = await expectSurvivedOn(stage, fault);
    expect(await stage.endProcesses()).toEqual([]);
    return survival;
  } finally {
    await stage.heal();
    await stage.end();
  }
}

async function expectSurvivedOn(stage: Stage, fault: Fault): Promise<Survival> {
  const load = new Load(() => stage.apis.map(({ client }) => client));
  load.start();
  try {
    await created(load, 0, WARM_ITEMS);
    await fault.strike(stage, load);
    const healedAt = Date.now();
    await stage.heal();
    await created(load, healedAt, 1);
    const recoveredMs = Date.now() - healedAt;
    expect(recoveredMs).toBeLessThan(RECOVERED_WITHIN_MS);
    await created(load, healedAt, WARM_ITEMS);
    await load.stop();
    if (fault.answers !== undefined) expectStatuses(load, fault.answers);
    await expectSettled(stage, load, fault);
    return { attempts: load.attempts.length, recoveredMs };
  } finally {
    await load.stop();
  }
}

/** Waits until `count` creates that began after a moment have returned their items. */
async function created(load: Load, after: number, count: number): Promise<void> {
  await eventually(() => {
    const done = load.attempts.filter(({ at, status }) => status === 200 && at >= after);
    if (done.length < count) throw new Error(`${String(done.length)} creates succeeded: ${tell(load, ['none'])}`);
  }, SETTLED_WITHIN_MS);
}

function expectStatuses(load: Load, allowed: Attempt['status'][]): void {
  const others = load.attempts.filter(({ status }) => !allowed.includes(status));
  expect(tell(load, keysOf(others))).toBe('[]');
}

async function expectSettled(stage: Stage, load: Load, fault: Fault): Promise<void> {
  const open = [...load.byKey()].filter(([, attempts]) => !attempts.some(({ status }) => status === 200));
  const unknown = open.filter(([, attempts]) => attempts.some(({ status }) => status !== 202 && status !== 503));
  expect(
    await load.repeat(
      unknown.map(([key]) => key),
      SETTLED_WITHIN_MS,
    ),
  ).toEqual([]);
  await expectDrained(stage);
  await expectVerdict(stage, load);
  const forgotten = await acceptedAndLost(load, stage);
  if (!fault.losesAccepted) expect(tell(load, forgotten)).toBe('[]');
  // Repeats only every second create that was refused for certain: the others must not appear by themselves.
  const refused = open.filter(([, attempts]) => attempts.every(isCertainlyNot)).map(([key]) => key);
  const again = [
    ...refused.filter((_, index) => index % 2 === 0),
    // A create without a key would store another item if it were repeated.
    ...keysOf(load.attempts.filter(({ status, isKeyed }) => status === 202 && isKeyed)),
    ...keysOf(load.attempts.filter(({ status }) => status === 200)).slice(-REPLAYED),
  ];
  expect(await load.repeat(again, SETTLED_WITHIN_MS)).toEqual([]);
  await expectVerdict(stage, load);
}

async function expectDrained({ jobs: { queue } }: Stage): Promise<void> {
  await eventually(async () => {
    const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized');
    expect(counts).toEqual({ wait: 0, active: 0, delayed: 0, prioritized: 0 });
  }, SETTLED_WITHIN_MS);
}

async function expectVerdict(stage: Stage, load: Load): Promise<void> {
  const verdict = await verdictOn(load, stage);
  const told = tell(load, Object.values(verdict).flat() as string[]);
  expect({ ...verdict, told }).toEqual({ ...NOTHING, told: '[]' });
}
