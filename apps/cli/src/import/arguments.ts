import { parseArgs } from 'node:util';
import type { ReferenceKind } from '@app/database';
import { CommandError } from '../command.js';

export const USAGE =
  'usage: import FILE.ndjson|FILE.csv|- [--kind items|categories|brands|conditions] [--format ndjson|csv]\n' +
  '              [--dry-run] [--rejects FILE] [--concurrency N]';

export interface ImportArguments {
  /** The path of the file, or `-` for stdin. */
  file: string;
  kind: 'items' | ReferenceKind;
  format: 'ndjson' | 'csv';
  isDryRun: boolean;
  rejectsFile: string | undefined;
  concurrency: number;
}

const KINDS = ['items', 'categories', 'brands', 'conditions'] as const;
const FORMATS = ['ndjson', 'csv'] as const;
/** Two batches keep MongoDB busy while lines are read. */
const CONCURRENCY = '2';

/** Parses the command line. @throws CommandError with the usage, or TypeError from `parseArgs` */
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
  const formatName = values.format ?? (/\.csv$/i.test(file ?? '') ? 'csv' : 'ndjson');
  const format = FORMATS.find((name) => name === formatName);
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
    // If several lines of reference data have the same id, the last one wins, so their batches must not overlap.
    concurrency: kind === 'items' ? Number(values.concurrency) : 1,
  };
}
