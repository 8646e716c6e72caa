import { Registry } from 'prom-client';
import { SharedReadiness } from './health.js';
import { registerProcessMetrics } from './metrics.js';

describe('registerProcessMetrics', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('each store is asked once, however many scrapes follow within a second', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const registry = new Registry();
    const mongodb = jest.fn(() => Promise.resolve(true));
    const redis = jest.fn(() => Promise.resolve(false));
    const readiness = new SharedReadiness({
      check: () => Promise.resolve({ status: 'ready', parts: { queue: 'full' } }),
    });
    registerProcessMetrics(registry, readiness, { mongodb, redis });
    const texts = await Promise.all([registry.metrics(), registry.metrics()]);
    texts.push(await registry.metrics());
    expect([mongodb, redis].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    for (const text of texts) {
      expect(text).toMatch(/^item_listing_store_response_seconds{store="mongodb"} /m);
      expect(text).not.toContain('store="redis"');
      expect(text).toContain('item_listing_part_ok{part="queue"} 0');
    }
  });
});
