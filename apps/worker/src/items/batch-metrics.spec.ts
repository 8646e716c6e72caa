import type { JobOutcome } from '@app/queue';
import { Registry } from 'prom-client';
import { BatchMetrics } from './batch-metrics.js';

/** An outcome of each kind. The compiler reports a missing one. */
const OUTCOMES: { [Kind in JobOutcome['kind']]: Extract<JobOutcome, { kind: Kind }> } = {
  done: { kind: 'done' },
  failed: { kind: 'failed', error: new Error('refused') },
  wait: { kind: 'wait' },
  delay: { kind: 'delay', ms: 5000 },
};
const KINDS = Object.keys(OUTCOMES) as JobOutcome['kind'][];

describe('BatchMetrics', () => {
  let registry: Registry;
  let metrics: BatchMetrics;
  beforeEach(() => {
    registry = new Registry();
    metrics = new BatchMetrics(registry);
  });

  const attempts = async (): Promise<Record<string, number>> => {
    const { values } = (await registry.getSingleMetric('item_listing_job_attempts_total')?.get()) ?? { values: [] };
    return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]));
  };

  const batches = async (): Promise<object> => {
    const valueOf = async (histogram: string, part: 'count' | 'sum'): Promise<number | undefined> => {
      const { values } = (await registry.getSingleMetric(histogram)?.get()) ?? { values: [] };
      return values.find((value) => 'metricName' in value && value.metricName === `${histogram}_${part}`)?.value;
    };
    const sizes = 'item_listing_batch_jobs';
    return {
      sizes: { count: await valueOf(sizes, 'count'), sum: await valueOf(sizes, 'sum') },
      durations: await valueOf('item_listing_batch_duration_seconds', 'count'),
    };
  };

  it('attempts are counted from zero, whatever their outcome', async () => {
    expect(await attempts()).toEqual({ done: 0, failed: 0, wait: 0, delay: 0 });
  });

  it.each(KINDS)('the attempts of a batch are counted by outcome: %s', async (kind) => {
    const outcomes = [OUTCOMES[kind], OUTCOMES[kind]];
    expect(await metrics.measure(2, () => Promise.resolve(outcomes))).toBe(outcomes);
    expect(await attempts()).toEqual({ done: 0, failed: 0, wait: 0, delay: 0, [kind]: 2 });
    expect(await batches()).toEqual({ sizes: { count: 1, sum: 2 }, durations: 1 });
  });

  it('a batch that throws is measured as one whose jobs have all failed', async () => {
    const error = new Error('unexpected');
    await expect(metrics.measure(3, () => Promise.reject(error))).rejects.toBe(error);
    expect(await attempts()).toEqual({ done: 0, failed: 3, wait: 0, delay: 0 });
    expect(await batches()).toEqual({ sizes: { count: 1, sum: 3 }, durations: 1 });
  });
});
