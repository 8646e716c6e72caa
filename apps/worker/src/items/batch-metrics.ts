import type { JobOutcome } from '@app/queue';
import { DURATION_BUCKETS } from '@app/runtime';
import { Counter, Histogram, type Registry } from 'prom-client';

const OUTCOMES: readonly JobOutcome['kind'][] = ['done', 'failed', 'wait', 'delay'];

/** Measures batches of create jobs. */
export class BatchMetrics {
  private readonly sizes: Histogram;
  private readonly durations: Histogram;
  private readonly attempts: Counter<'outcome'>;
  private readonly failures: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.sizes = new Histogram({
      name: 'item_listing_batch_jobs',
      help: 'Jobs in a batch',
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    });
    this.durations = new Histogram({
      name: 'item_listing_batch_duration_seconds',
      help: 'Time to process a batch',
      buckets: DURATION_BUCKETS,
      registers,
    });
    this.attempts = new Counter({
      name: 'item_listing_job_attempts_total',
      help: 'Attempts to process a job, by outcome',
      labelNames: ['outcome'],
      registers,
    });
    this.failures = new Counter({
      name: 'item_listing_jobs_failed_total',
      help: 'Jobs that have failed permanently',
      registers,
    });
    // Prometheus does not see the first increase of a time series that does not exist before it.
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0);
  }

  /** Processes a batch of this many jobs and measures it. If `process` throws, all of them have failed. */
  async measure(jobs: number, process: () => Promise<JobOutcome[]>): Promise<JobOutcome[]> {
    const end = this.durations.startTimer();
    try {
      const outcomes = await process();
      for (const { kind } of outcomes) this.attempts.inc({ outcome: kind });
      return outcomes;
    } catch (error) {
      this.attempts.inc({ outcome: 'failed' }, jobs);
      throw error;
    } finally {
      end();
      this.sizes.observe(jobs);
    }
  }

  countFailure(): void {
    this.failures.inc();
  }
}
