import { Registry } from 'prom-client';
import { CreateMetrics, type CountedOutcome, type RefusalReason, type WaitEnd } from './create-metrics.js';

/** Each reason and each end of a wait. The compiler reports a missing one. */
const REASONS: Record<RefusalReason, true> = {
  ...{ jobs: true, bytes: true, memory: true, seller: true, stalled: true, slow: true },
  ...{ process: true, redis: true, mongodb: true, time: true, disconnected: true },
};
const WAIT_ENDS: Record<WaitEnd, true> = { reply: true, 'look-up': true, deadline: true, abandoned: true };

describe('CreateMetrics', () => {
  let registry: Registry;
  let metrics: CreateMetrics;
  beforeEach(() => {
    registry = new Registry();
    metrics = new CreateMetrics(registry);
  });

  /** Returns the time series of a counter that have increased. */
  const increased = async (counter: string): Promise<unknown> => {
    const { values } = (await registry.getSingleMetric(counter)?.get()) ?? { values: [] };
    return values.filter(({ value }) => value > 0).map(({ labels }) => labels);
  };
  const reasons = Object.keys(REASONS) as RefusalReason[];
  const refusals = reasons.map(
    (reason) =>
      [
        { kind: 'refused', reason },
        { outcome: 'refused', reason },
      ] as const,
  );

  it.each<readonly [CountedOutcome, object]>([
    [
      { kind: 'created', isReplay: false },
      { outcome: 'stored', reason: '' },
    ],
    [
      { kind: 'created', isReplay: true },
      { outcome: 'replayed', reason: '' },
    ],
    [{ kind: 'queued' }, { outcome: 'queued', reason: '' }],
    [{ kind: 'conflict' }, { outcome: 'conflict', reason: '' }],
    [{ kind: 'failed' }, { outcome: 'failed', reason: '' }],
    [{ kind: 'unknown' }, { outcome: 'unknown', reason: '' }],
    ...refusals,
  ])('counts the outcome %j from zero, and no other', async (outcome, labels) => {
    const { values } = (await registry.getSingleMetric('item_listing_creates_total')?.get()) ?? { values: [] };
    expect(values).toContainEqual({ labels, value: 0 });
    metrics.countOutcome(outcome);
    expect(await increased('item_listing_creates_total')).toEqual([labels]);
  });

  it.each(Object.keys(WAIT_ENDS) as WaitEnd[])('a wait that ended by %s is counted as that alone', async (end) => {
    metrics.countWait(end);
    expect(await increased('item_listing_create_waits_total')).toEqual([{ end }]);
  });
});
