import type { Database, SchemaRepository } from '@app/database';
import type { CreateQueue } from '@app/queue';
import { ApiReadiness } from './readiness.js';

describe('ApiReadiness', () => {
  it('does not list the indexes again in every check, once none is missing', async () => {
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
});
