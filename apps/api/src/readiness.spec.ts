import type { Database, SchemaRepository } from '@app/database';
import type { CreateQueue } from '@app/queue';
import { ApiReadiness } from './readiness.js';

/** That of Kubernetes by default. */
const PROBE_TIMEOUT_MS = 1000;

describe('ApiReadiness', () => {
  it('readiness does not list the indexes again in every check, once none is missing', async () => {
    const missing = { unique: ['items.publicId_1'], performance: [] };
    const complete = { unique: [], performance: [] };
    const missingIndexes = jest.fn().mockResolvedValueOnce(missing).mockResolvedValue(complete);
    const readiness = new ApiReadiness(
      { hasResponded: true, responds: () => Promise.resolve(true) } as unknown as Database,
      { missingIndexes } as unknown as SchemaRepository,
      { backlog: { state: () => Promise.resolve({ memory: 0, failed: 0 }) } } as unknown as CreateQueue,
    );
    const statuses: string[] = [];
    for (let n = 0; n < 10; n++) statuses.push((await readiness.check()).status);
    expect(statuses).toEqual(['not ready', ...Array<string>(9).fill('ready')]);
    expect(missingIndexes).toHaveBeenCalledTimes(2);
  });

  describe('while MongoDB responds, but takes long to list its indexes', () => {
    const complete = { unique: [], performance: [] };
    const missingIndexes = jest.fn<Promise<typeof complete>, []>();
    let readiness: ApiReadiness;
    beforeEach(() => {
      jest.useFakeTimers();
      readiness = new ApiReadiness(
        { hasResponded: true, responds: () => Promise.resolve(true) } as unknown as Database,
        { missingIndexes } as unknown as SchemaRepository,
        { backlog: { state: () => Promise.resolve({ memory: 0, failed: 0 }) } } as unknown as CreateQueue,
      );
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('an API stays ready, and says so before a probe times out', async () => {
      missingIndexes.mockResolvedValueOnce(complete);
      expect(await readiness.check()).toMatchObject({ status: 'ready' });
      await jest.advanceTimersByTimeAsync(60_000);
      missingIndexes.mockReturnValueOnce(new Promise(() => undefined));
      const checking = Promise.race([readiness.check(), delay(PROBE_TIMEOUT_MS, 'no result')]);
      await jest.advanceTimersByTimeAsync(PROBE_TIMEOUT_MS);
      expect(await checking).toMatchObject({
        status: 'degraded',
        parts: { mongodb: expect.stringMatching('unavailable') as string },
      });
    });

    it('an API becomes ready once it knows them', async () => {
      missingIndexes.mockReturnValueOnce(delay(3000, complete));
      void readiness.check();
      await jest.advanceTimersByTimeAsync(3000);
      expect(await readiness.check()).toMatchObject({ status: 'ready' });
    });
  });
});

function delay<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => {
    setTimeout(() => {
      resolve(value);
    }, ms);
  });
}
