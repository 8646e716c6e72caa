import { NO_REPLICA_SET, type Database, type MissingIndexes, type SchemaRepository } from '@app/database';
import { MAX_FAILED_JOBS, type BacklogState, type CreateQueue } from '@app/queue';
import { CHECK_TIMEOUT_MS, OK, settledBy, settledWithin, type Readiness, type ReadinessCheck } from '@app/runtime';

const UNAVAILABLE = 'unavailable: reads are refused';
/** How long a complete list of indexes is remembered. While some are missing, each check lists them again. */
const INDEXES_REMEMBERED_MS = 10_000;

/** A part that only some APIs have, depending on their settings. */
export interface OptionalPart {
  name: string;
  works: () => Promise<boolean>;
  /** The line of the part while it does not work, or takes too long to tell. */
  problem: string;
}

/**
 * Reports whether the API can take requests. An unavailable store does not take it out of rotation: all instances
 * would leave at once, and reads would fail along with creates. The affected requests get a 503 instead.
 */
export class ApiReadiness implements ReadinessCheck {
  isDraining = false;
  private hasUniqueIndexes = false;
  private indexesCompleteAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly schema: SchemaRepository,
    private readonly queue: CreateQueue,
    private readonly optional: readonly OptionalPart[] = [],
  ) {}

  /** Reports not ready from now on, because the process is about to stop. */
  drain(): void {
    this.isDraining = true;
  }

  async check(): Promise<Readiness> {
    const checkingBacklog = settledWithin(CHECK_TIMEOUT_MS, this.queue.backlog.state());
    const checkingOptional = Promise.all(this.optional.map(checkOptional));
    const [mongodb, backlog, optional] = await Promise.all([this.mongodb(), checkingBacklog, checkingOptional]);
    const queue =
      backlog === undefined ? { redis: 'unavailable: creates are refused' } : { redis: OK, ...problemsOf(backlog) };
    const parts: Record<string, string> = { mongodb, ...queue, ...Object.fromEntries(optional) };
    if (this.isDraining) return { status: 'not ready', parts: { ...parts, process: 'stopping' } };
    if (!this.database.hasResponded || !this.hasUniqueIndexes) return { status: 'not ready', parts };
    return { status: Object.values(parts).every((part) => part === OK) ? 'ready' : 'degraded', parts };
  }

  private async mongodb(): Promise<string> {
    if (!this.database.hasResponded) return this.database.isReplicaSetMissing ? NO_REPLICA_SET : 'not seen yet';
    const deadline = performance.now() + CHECK_TIMEOUT_MS;
    if (!(await this.database.responds(CHECK_TIMEOUT_MS))) return UNAVAILABLE;
    if (performance.now() - this.indexesCompleteAt < INDEXES_REMEMBERED_MS) return OK;
    // A later result still counts for the next check.
    const listing = this.schema.missingIndexes().then((missing) => this.indexes(missing));
    return (await settledBy(deadline, listing)) ?? UNAVAILABLE;
  }

  private indexes({ unique, performance: slow }: MissingIndexes): string {
    if (unique.length > 0) return `unique indexes missing, run setup: ${unique.join(', ')}`;
    this.hasUniqueIndexes = true;
    if (slow.length > 0) return `indexes missing, lists are slow, run setup: ${slow.join(', ')}`;
    this.indexesCompleteAt = performance.now();
    return OK;
  }
}

async function checkOptional({ name, works, problem }: OptionalPart): Promise<[string, string]> {
  return [name, (await settledWithin(CHECK_TIMEOUT_MS, works())) === true ? OK : problem];
}

/** Returns the problems of the queue, by part. */
function problemsOf({ refuses, memory, failed }: BacklogState): Record<string, string> {
  const percent = `${(memory * 100).toFixed(0)} %`;
  return {
    ...(refuses === 'memory' ? { memory: `Redis uses ${percent} of its maxmemory: creates are refused` } : {}),
    ...(refuses === 'jobs' || refuses === 'bytes' ? { backlog: `full of ${refuses}: creates are refused` } : {}),
    ...(failed < MAX_FAILED_JOBS ? {} : { failedJobs: `${String(failed)}: the oldest are removed` }),
  };
}
