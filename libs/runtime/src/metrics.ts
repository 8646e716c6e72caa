import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { VERSION } from './version.js';

/** A store, with a function that resolves to whether it responded in time. */
export type StoreChecks = Record<string, () => Promise<boolean>>;

/**
 * Registers the metrics that both processes have: those of Node.js, the version, and how long each store takes to
 * respond, measured on each scrape.
 */
export function registerProcessMetrics(registry: Registry, stores: StoreChecks): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'item_listing_build_info',
    help: 'Always 1. The label has the version of the service',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: VERSION }, 1);
  new Gauge({
    name: 'item_listing_store_response_seconds',
    help: 'How long the store took to respond to a small command just now. Absent while it does not respond',
    labelNames: ['store'],
    registers: [registry],
    async collect() {
      this.reset();
      const check = async ([store, responds]: [string, StoreChecks[string]]): Promise<void> => {
        const start = performance.now();
        if (await responds()) this.set({ store }, (performance.now() - start) / 1000);
      };
      await Promise.all(Object.entries(stores).map(check));
    },
  });
}
