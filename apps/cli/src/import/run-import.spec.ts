import { once } from 'node:events';
import { TimeoutError } from '@app/runtime';
import type { Loader, Outcome } from './loader.js';
import { runImport } from './run-import.js';
import type { RejectedLine, SourceLine } from './source-line.js';

describe('runImport', () => {
  it('runImport throws the error of a batch even if no further line arrives', async () => {
    const stop = new AbortController();
    async function* lines(): AsyncGenerator<SourceLine> {
      for (let number = 1; number <= 500; number++) yield { number, text: '{}', value: {} };
      // Like a pipe without a writer, this ends only when reading is aborted.
      await once(stop.signal, 'abort');
      throw stop.signal.reason;
    }
    const loader: Loader = {
      prepare: () => Promise.resolve(() => Promise.reject(new Error('disk full'))),
    };
    const report = () => Promise.resolve();
    await expect(runImport(lines(), loader, { concurrency: 2, stop, report })).rejects.toThrow('disk full');
  });

  it('runImport ends when it is stopped while MongoDB is unavailable', async () => {
    const stop = new AbortController();
    async function* lines(): AsyncGenerator<SourceLine> {
      for (let number = 1; number <= 500; number++) yield await Promise.resolve({ number, text: '{}', value: {} });
    }
    const store = jest.fn(() => {
      stop.abort();
      return Promise.reject(new TimeoutError('too late'));
    });
    const loader: Loader = { prepare: () => Promise.resolve(store) };
    const report = jest.fn();
    await runImport(lines(), loader, { concurrency: 2, stop, report });
    expect(store).toHaveBeenCalledTimes(1);
    expect(report).not.toHaveBeenCalled();
  });

  it('runImport reports the rejected lines of a batch in the order of the file', async () => {
    const reject = (number: number): RejectedLine => ({ number, text: '', reasons: [] });
    async function* lines(): AsyncGenerator<SourceLine | RejectedLine> {
      yield { number: 1, text: '{}', value: {} };
      yield reject(2);
      yield { number: 3, text: '{}', value: {} };
      yield await Promise.resolve(reject(4));
    }
    const outcome = { stored: 0, existing: 0, rejects: [reject(3), reject(1)] };
    const loader: Loader = { prepare: () => Promise.resolve(() => Promise.resolve(outcome)) };
    const report = jest.fn((_: number, { rejects }: Outcome) => {
      expect(rejects.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
      return Promise.resolve();
    });
    await runImport(lines(), loader, { concurrency: 2, stop: new AbortController(), report });
    expect(report).toHaveBeenCalledTimes(1);
  });
});
