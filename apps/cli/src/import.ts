import {
  CounterRepository,
  ImportRepository,
  ItemRepository,
  MaintenanceRepository,
  ReferenceRepository,
  SchemaRepository,
  type Database,
} from '@app/database';
import { SearchBackfill } from '@app/items';
import { collectGarbageEarly, loadCliConfig } from '@app/runtime';
import { CommandError, runCommand } from './command.js';
import { importArguments, USAGE, type ImportArguments } from './import/arguments.js';
import { openInput, type Input } from './import/input.js';
import { ItemLoader } from './import/item-loader.js';
import type { Loader } from './import/loader.js';
import { Progress } from './import/progress.js';
import { ReferenceLoader } from './import/reference-loader.js';
import { Rejects } from './import/rejects.js';
import { runImport } from './import/run-import.js';
import { Tally } from './import/tally.js';
import { withDatabase } from './with-database.js';

const CONNECT_WITHIN_MS = 10_000;
const SOME_REJECTED = 1;
const COULD_NOT_RUN = 2;
const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const;

collectGarbageEarly();

/**
 * Loads items or reference data from a file. Exit codes: 0 on success, 1 if lines were rejected, 2 if the import could
 * not run or finish, 128 + N after signal N.
 */
runCommand(USAGE, async (print) => {
  const args = importArguments(process.argv.slice(2));
  const { stop, interruption } = stopOnSignals();
  // Until there is a connection, nothing is in progress.
  const exit = (): void => process.exit();
  stop.signal.addEventListener('abort', exit);
  const input = await openInput(args.file, args.format, stop.signal);
  await withDatabase(console.error, CONNECT_WITHIN_MS, async (database) => {
    stop.signal.removeEventListener('abort', exit);
    const schema = new SchemaRepository(database);
    await requireUniqueIndexes(schema);
    const rejects = await Rejects.open(args.rejectsFile, args.file);
    try {
      const loader = loaderFor(args, database, schema);
      const rejected = await load(input, { args, loader, rejects, stop, print });
      if (!stop.signal.aborted) for (const line of (await loader.finish?.(stop.signal)) ?? []) print(line);
      const signal = interruption();
      if (signal !== undefined) print('Interrupted: run the same command again, and it stores what is missing');
      process.exitCode = signal === undefined ? (rejected > 0 ? SOME_REJECTED : 0) : EXIT_CODES[signal];
    } finally {
      if (!args.isDryRun) await restoreSearchIndex(schema, print);
    }
  });
});

interface Load {
  args: ImportArguments;
  loader: Loader;
  rejects: Rejects;
  stop: AbortController;
  print: (line: string) => void;
}

/** Loads all lines and prints a summary. Returns how many were rejected. */
async function load(input: Input, { args, loader, rejects, stop, print }: Load): Promise<number> {
  const tally = new Tally();
  const progress = new Progress(input);
  try {
    await runImport(input.lines, loader, {
      concurrency: args.concurrency,
      stop,
      report: async (lines, outcome) => {
        await rejects.add(outcome.rejects);
        tally.add(lines, outcome);
        progress.update(tally.read);
      },
    });
    return tally.rejected;
  } finally {
    progress.stop();
    for (const line of rejects.shown()) console.error(line);
    print(tally.summary(args.isDryRun));
    await rejects.close();
  }
}

function loaderFor({ kind, isDryRun }: ImportArguments, database: Database, schema: SchemaRepository): Loader {
  if (kind === 'items') {
    const { maxItemBytes } = loadCliConfig();
    const counters = new CounterRepository(database);
    return new ItemLoader(new ItemRepository(database), new ReferenceRepository(database), counters, {
      isDryRun,
      maxItemBytes,
      beforeStoring: () => schema.postponeSearchIndex(),
    });
  }
  return new ReferenceLoader(
    kind,
    new ImportRepository(database),
    new SearchBackfill(new MaintenanceRepository(database)),
    isDryRun,
  );
}

/**
 * Builds the search index if it is missing, because this import or an earlier one that was killed has postponed it.
 * Without the index, searches read all items. Does not throw, so that the error of a failed import is the one reported.
 */
async function restoreSearchIndex(schema: SchemaRepository, print: (line: string) => void): Promise<void> {
  try {
    if (!(await schema.isSearchIndexMissing())) return;
    const since = performance.now();
    console.error('Building the search index');
    await schema.createIndexes();
    print(`Search index built in ${((performance.now() - since) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(`The search index may be missing: run \`npm run setup\` (${(error as Error).message})`);
    // The codes of signals are higher.
    process.exitCode = Math.max(COULD_NOT_RUN, Number(process.exitCode ?? 0));
  }
}

/** Throws if unique indexes are missing, because without them an item could be stored twice. */
async function requireUniqueIndexes(schema: SchemaRepository): Promise<void> {
  const { unique } = await schema.missingIndexes();
  if (unique.length > 0) throw new CommandError('The database has no indexes yet: run `npm run setup` first');
}

/** The first signal stops reading and updating. The same signal again ends the process, except for SIGHUP. */
function stopOnSignals(): { stop: AbortController; interruption: () => keyof typeof EXIT_CODES | undefined } {
  const stop = new AbortController();
  let received: keyof typeof EXIT_CODES | undefined;
  for (const name of Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]) {
    process.once(name, () => {
      received ??= name;
      process.exitCode = EXIT_CODES[received];
      stop.abort();
    });
  }
  // A terminal that is closed may send it twice: from the shell and from the kernel.
  process.on('SIGHUP', () => undefined);
  return { stop, interruption: () => received };
}
