import type { CreateQueue } from '@app/queue';
import { CHECK_TIMEOUT_MS, settledWithin, shareSamples } from '@app/runtime';
import { Gauge, type Registry } from 'prom-client';

/**
 * Registers the metrics of the queue, which is sampled when they are read. While Redis does not respond, they have no
 * value.
 */
export function registerQueueMetrics(registry: Registry, queue: CreateQueue): void {
  const sample = shareSamples(() => settledWithin(CHECK_TIMEOUT_MS, queue.backlog.state()));
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
    help: 'The fraction of maxmemory that Redis uses, or 0 if it has no limit',
    registers,
    async collect() {
      this.set((await sample())?.memory ?? NaN);
    },
  });
}
