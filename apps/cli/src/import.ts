import 'reflect-metadata';
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
import { CommandError, runCommand, withDatabase } from './command.js';
import { importArguments, USAGE, type ImportArguments } from './import/arguments.js';
import { openInput } from './import/input.js';
import { ItemLoader } from './import/item-loader.js';
import type { Loader } from './import/loader.js';
import { Progress } from './import/progress.js';
import { ReferenceLoader } from './import/reference-loader.js';
import { Rejects } from './import/rejects.js';
import { runImport } from './import/run-import.js';
import { Tally } from './import/tally.js';

const CONNECT_WITHIN_MS = 10_000;
const SOME_REJECTED = 1;
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

collectGarbageEarly();

/**
 * Loads items or reference data from a file. Exit codes: 0, 1 when lines were rejected, 2 when it could not run or to its
 * end, 130 and 143 when it was interrupted.
 */
runCommand(USAGE, async (say) => {
  const args = importArguments(process.argv.slice(2));
  const { stop, interruption } = stopOnSignals();
  const input = await openInput(args.file, args.format, stop.signal);
  const rejects = await Rejects.open(args.rejectsFile, args.file);
  await withDatabase(console.error, CONNECT_WITHIN_MS, async (database) => {
    const schema = new SchemaRepository(database);
    await requireUniqueIndexes(schema);
    const isSearchToBeIndexed = args.kind === 'items' && !args.isDryRun && (await schema.postponeSearchIndex());
    const loader = loaderFor(args, database);
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
    } finally {
      progress.stop();
      for (const line of rejects.shown()) console.error(line);
      say(tally.summary(args.isDryRun));
      await rejects.close();
    }
    const signal = interruption();
    if (isSearchToBeIndexed) await buildSearchIndex(schema, say);
    if (signal === undefined) for (const line of (await loader.finish?.()) ?? []) say(line);
    else say('Interrupted: run the same command again, and it stores what is missing');
    process.exitCode = signal === undefined ? (tally.rejected > 0 ? SOME_REJECTED : 0) : EXIT_CODES[signal];
  });
});

function loaderFor({ kind, isDryRun }: ImportArguments, database: Database): Loader {
  if (kind === 'items') {
    const { maxItemBytes } = loadCliConfig();
    const counters = new CounterRepository(database);
    return new ItemLoader(new ItemRepository(database), new ReferenceRepository(database), counters, {
      isDryRun,
      maxItemBytes,
    });
  }
  return new ReferenceLoader(
    kind,
    new ImportRepository(database),
    new SearchBackfill(new MaintenanceRepository(database)),
    isDryRun,
  );
}

/** Also after an interruption: without it searches read all items. */
async function buildSearchIndex(schema: SchemaRepository, say: (line: string) => void): Promise<void> {
  const since = performance.now();
  await schema.createIndexes();
  say(`Search index built in ${((performance.now() - since) / 1000).toFixed(1)} s`);
}

/** Without these an item could be stored twice. */
async function requireUniqueIndexes(schema: SchemaRepository): Promise<void> {
  const { unique } = await schema.missingIndexes();
  if (unique.length > 0) throw new CommandError('The database has no indexes yet: run `npm run setup` first');
}

/** The first signal ends reading, a second one the process. */
function stopOnSignals(): { stop: AbortController; interruption: () => keyof typeof EXIT_CODES | undefined } {
  const stop = new AbortController();
  let received: keyof typeof EXIT_CODES | undefined;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      received ??= name;
      stop.abort();
    });
  }
  return { stop, interruption: () => received };
}
