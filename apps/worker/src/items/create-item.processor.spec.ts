import { TimeoutError } from '@app/runtime';
import type { Job } from 'bullmq';
import { pino } from 'pino';
import { createJob } from '../../../../test/support/queue.js';
import { CreateItemProcessor } from './create-item.processor.js';
import type { SearchIndexer } from './search-indexer.js';

/** Jobs that have stalled so often that each is processed alone. */
function suspects(count: number): Job[] {
  return Array.from({ length: count }, () => {
    const data = createJob();
    const updateProgress = (): Promise<void> => Promise.resolve();
    return {
      id: data.id,
      data,
      stalledCounter: 10,
      attemptsStarted: 11,
      progress: 0,
      updateProgress,
    } as unknown as Job;
  });
}

describe('CreateItemProcessor', () => {
  const indexer = {
    shouldDefer: () => false,
    pauseWhile: (work: Promise<unknown>) => work,
  } as unknown as SearchIndexer;
  const process = async (error: Error): Promise<{ outcomes: (Error | undefined)[]; stores: number }> => {
    const createMany = jest.fn(() => Promise.reject(error));
    const creator = { createMany, findCreated: () => Promise.resolve(new Map()) };
    const replies = { publish: () => Promise.resolve() };
    const processor = new CreateItemProcessor(creator as never, replies as never, indexer, pino({ level: 'silent' }));
    const outcomes = await processor.process(suspects(3), () => undefined);
    return { outcomes, stores: createMany.mock.calls.length };
  };

  it('a processor does not try each of the jobs that are processed alone while MongoDB is unavailable', async () => {
    const error = new TimeoutError('no majority');
    expect(await process(error)).toEqual({ outcomes: [error, error, error], stores: 1 });
  });

  it('a processor tries each of the jobs that are processed alone if one of them fails', async () => {
    const error = new Error('its fault');
    expect(await process(error)).toEqual({ outcomes: [error, error, error], stores: 3 });
  });
});
