import type { BacklogState, CreateQueue } from '@app/queue';
import { CHECK_TIMEOUT_MS, settledWithin } from '@app/runtime';
import { Gauge, type Registry } from 'prom-client';

/** Samples the queue whenever metrics are read. While Redis does not respond, the metrics have no value. */
export class QueueMetrics {
  private sampling: Promise<BacklogState | undefined> | undefined;

  constructor(
    registry: Registry,
    private readonly queue: CreateQueue,
  ) {
    const sample = this.sample.bind(this);
    const registers = [registry];
    new Gauge({
      name: 'item_listing_jobs',
      help: 'Jobs in the queue, by state',
      labelNames: ['state'],
      registers,
      async collect() {
        const state = await sample();
        this.reset();
        if (state === undefined) return;
        const { waiting, active, delayed, failed } = state;
        for (const [name, count] of Object.entries({ waiting, active, delayed, failed }))
          this.set({ state: name }, count);
      },
    });
    new Gauge({
      name: 'item_listing_oldest_waiting_job_age_seconds',
      help: 'Age of the job that waits the longest for a worker, or 0 if none waits',
      registers,
      async collect() {
        this.set((await sample())?.oldestWaitingS ?? NaN);
      },
    });
    new Gauge({
      name: 'item_listing_redis_memory_ratio',
      help: 'The part of maxmemory that Redis uses, or 0 if it has no limit',
      registers,
      async collect() {
        this.set((await sample())?.memory ?? NaN);
      },
    });
  }

  /** Returns one sample to all metrics that are read at the same time. */
  private sample(): Promise<BacklogState | undefined> {
    this.sampling ??= settledWithin(CHECK_TIMEOUT_MS, this.queue.backlog.state()).finally(
      () => (this.sampling = undefined),
    );
    return this.sampling;
  }
}
