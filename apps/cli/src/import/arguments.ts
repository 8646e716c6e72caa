import { parseArgs } from 'node:util';
import type { ReferenceKind } from '@app/database';
import { CommandError } from '../command.js';

export const USAGE =
  'usage: import FILE.ndjson|FILE.csv|- [--kind items|categories|brands|conditions] [--format ndjson|csv]\n' +
  '              [--dry-run] [--rejects FILE] [--concurrency N]';

export interface ImportArguments {
  /** `-` is stdin. */
  file: string;
  kind: 'items' | ReferenceKind;
  format: 'ndjson' | 'csv';
  isDryRun: boolean;
  rejectsFile: string | undefined;
  concurrency: number;
}

const KINDS = ['items', 'categories', 'brands', 'conditions'] as const;
const FORMATS = ['ndjson', 'csv'] as const;
/** Two keep MongoDB busy while lines are read; more were not faster on two cores. */
const CONCURRENCY = '2';

/** @throws CommandError with the usage, TypeError of `parseArgs` */
export function importArguments(args: string[]): ImportArguments {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      kind: { type: 'string', default: 'items' },
      format: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      rejects: { type: 'string' },
      concurrency: { type: 'string', default: CONCURRENCY },
    },
  });
  const [file, ...more] = positionals;
  const kind = KINDS.find((name) => name === values.kind);
  const asked = values.format ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson');
  const format = FORMATS.find((name) => name === asked);
  const isCount = /^([1-9]|[1-5]\d|6[0-4])$/.test(values.concurrency);
  if (file === undefined || more.length > 0 || kind === undefined || format === undefined || !isCount) {
    throw new CommandError(USAGE);
  }
  return {
    file,
    kind,
    format,
    isDryRun: values['dry-run'],
    rejectsFile: values.rejects,
    // Of reference data the last line of a number counts.
    concurrency: kind === 'items' ? Number(values.concurrency) : 1,
  };
}
