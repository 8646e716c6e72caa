import { CommandError } from '../command.js';
import { importArguments, USAGE } from './arguments.js';

describe('importArguments', () => {
  it('the format of an import is taken from the name of the file, unless it is given', () => {
    expect(importArguments(['items.CSV'])).toMatchObject({ file: 'items.CSV', kind: 'items', format: 'csv' });
    expect(importArguments(['-'])).toMatchObject({ file: '-', format: 'ndjson', isDryRun: false, concurrency: 2 });
    expect(importArguments(['items.csv', '--format', 'ndjson'])).toMatchObject({ format: 'ndjson' });
  });

  it('an import of reference data stores one batch at a time', () => {
    expect(importArguments(['-', '--kind', 'brands', '--concurrency', '4'])).toMatchObject({ concurrency: 1 });
  });

  it.each([
    ['no file', []],
    ['two files', ['one.csv', 'two.csv']],
    ['an unknown kind', ['-', '--kind', 'shops']],
    ['an unknown format', ['-', '--format', 'xml']],
    ['a concurrency of none', ['-', '--concurrency', '0']],
    ['a concurrency of too many', ['-', '--concurrency', '65']],
  ])('importArguments throws the usage given %s', (_, args) => {
    expect(() => importArguments(args)).toThrow(new CommandError(USAGE));
  });
});
