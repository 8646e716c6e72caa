import { once } from 'node:events';
import type { Loader } from './loader.js';
import { runImport } from './run-import.js';
import type { SourceLine } from './source-line.js';

describe('runImport', () => {
  it('throws the error of a batch even if no further line arrives', async () => {
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
});
