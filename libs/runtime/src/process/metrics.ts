import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { OK, SHARED_FOR_MS, type SharedReadiness } from './health.js';
import { TtlCache } from '../ttl-cache.js';
import { VERSION } from './version.js';

/** A store, with a function that resolves to whether it responded in time. */
export type StoreChecks = Record<string, () => Promise<boolean>>;

/** Buckets of histograms of durations, in seconds. */
export const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Returns a function that shares each sample for a second, so that frequent scrapes put no load on the stores. */
export function shareSamples<T>(sample: () => Promise<T>): () => Promise<T> {
  const latest = new TtlCache<'latest', Promise<T>>({ forMs: SHARED_FOR_MS, count: 1 });
  return () => latest.getOrSet('latest', sample);
}

/**
 * Registers the metrics that both processes have: those of Node.js, the version, the parts of the process, and how long
 * each store takes to respond.
 */
export function registerProcessMetrics(registry: Registry, readiness: SharedReadiness, stores: StoreChecks): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'item_listing_build_info',
    help: 'Always 1. The label has the version of the service',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1);
  new Gauge({
    name: 'item_listing_part_ok',
    help: '1 while this part of the process works, else 0',
    labelNames: ['part'],
    registers: [registry],
    async collect() {
      const { parts } = await readiness.check();
      // Removes parts that are reported only while they fail.
      this.reset();
      for (const [part, line] of Object.entries(parts)) this.set({ part }, line === OK ? 1 : 0);
    },
  });
  const measure = shareSamples(() => Promise.all(Object.entries(stores).map(measureStore)));
  new Gauge({
    name: 'item_listing_store_response_seconds',
    help: 'How long the store took to respond to a small command just now. Absent while it does not respond',
    labelNames: ['store'],
    registers: [registry],
    async collect() {
      const measured = await measure();
      this.reset();
      for (const { store, seconds } of measured) if (seconds !== undefined) this.set({ store }, seconds);
    },
  });
}

async function measureStore([store, responds]: [string, StoreChecks[string]]) {
  const start = performance.now();
  const hasResponded = await responds();
  return { store, seconds: hasResponded ? (performance.now() - start) / 1000 : undefined };
}
