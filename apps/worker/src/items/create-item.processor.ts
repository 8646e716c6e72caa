import { UnrecoverableError, type Job } from 'bullmq';
import { CreateJobSchema, parseCreateJob, type CreateJob, type CreateReply } from '@app/contracts';
import { areWritesRefused, isDatabaseUnavailable } from '@app/database';
import type { CreatedItems, CreateOptions, ItemCreator } from '@app/items';
import type { ReplyPublisher } from '@app/queue';
import type { Logger } from '@app/runtime';
import type { SearchIndexer } from './search-indexer.js';

/** A job that has stalled more often is processed alone, because it may be the one that crashes workers. */
const SUSPECT_AFTER_STALLS = 3;
/** How many workers may die while they process a job alone. */
const MAX_DEATHS = 5;
/** The fields of a job that identify the waiting request. Unreadable data yields none of them. */
const WaitingSchema = CreateJobSchema.pick({ requestId: true, replyTo: true }).partial().catch({});

/** The job was queued by another version of the API. A worker of that version will take it. */
export class UnknownVersionError extends Error {}

/** Processes create jobs: stores their items, and publishes the replies to the waiting APIs. */
export class CreateItemProcessor {
  constructor(
    private readonly creator: ItemCreator,
    private readonly replies: ReplyPublisher,
    private readonly indexer: SearchIndexer,
    private readonly logger: Logger,
  ) {}

  /**
   * Stores the items of the jobs together. Processing a job twice stores one item. Returns, in job order, undefined for
   * a job that is done, or its error: UnrecoverableError if its data is not a create job, UnknownVersionError, or one for
   * which `isDatabaseUnavailable` returns true if it is unknown whether its item is stored. Calls `onTried` after each job
   * that it processes alone.
   */
  async process(jobs: readonly Job[], onTried: () => void): Promise<(Error | undefined)[]> {
    const suspects = jobs.filter(isSuspect);
    const outcomes = await this.store(jobs.filter((job) => !isSuspect(job)));
    let unavailable = [...outcomes.values()].find(isStoreUnavailable);
    for (const job of suspects) {
      // Otherwise, each of them would wait as long as a write may take.
      const outcome = unavailable ?? (await this.storeAlone(job).catch((error: unknown) => error as Error));
      outcomes.set(job, outcome);
      onTried();
      if (isStoreUnavailable(outcome)) unavailable = outcome;
    }
    return jobs.map((job) => outcomes.get(job));
  }

  /** Replies to the waiting API that the job has failed permanently. */
  async giveUp(job: Job, err: Error): Promise<void> {
    const { requestId, replyTo } = WaitingSchema.parse(job.data);
    this.logger.error({ requestId, id: job.id, err }, 'create failed for good');
    if (replyTo === undefined || job.id === undefined) return;
    await this.replies.publish(replyTo, [{ id: job.id, outcome: { kind: 'failed' } }]);
  }

  private async store(jobs: readonly Job[]): Promise<Map<Job, Error | undefined>> {
    if (jobs.length === 0) return new Map();
    const items = jobs.map(({ data }) => (data as Partial<CreateJob> | null)?.item ?? {});
    // The queries run while the jobs are parsed. The item of a retried job may already be stored, and then needs none.
    const prepared = jobs.some(isRetried) ? undefined : this.creator.prepare(items);
    const outcomes = new Map<Job, Error | undefined>();
    const creates = new Map<Job, CreateJob>();
    for (const job of jobs) {
      const create = parse(job);
      if (create instanceof Error) outcomes.set(job, create);
      else creates.set(job, create);
    }
    const retriedIds = [...creates].flatMap(([job, { id }]) => (isRetried(job) ? [id] : []));
    const creating = this.createMany([...creates.values()], { retriedIds, prepared });
    const created = await creating.catch((error: unknown) => error as Error);
    for (const [job, { id }] of creates) {
      const outcome = created instanceof Error ? created : created.get(id);
      outcomes.set(job, outcome instanceof Error ? outcome : undefined);
    }
    return outcomes;
  }

  /** Counts, as the job's progress, the workers that began it and died. */
  private async storeAlone(job: Job): Promise<Error | undefined> {
    const deaths = Number(job.progress);
    const isStored = async (): Promise<boolean> => (await this.creator.findCreated([job.id ?? ''])).size > 0;
    if (deaths >= MAX_DEATHS && !(await isStored()))
      return new UnrecoverableError('Workers died of it again and again');
    await job.updateProgress(deaths + 1);
    const outcome = (await this.store([job])).get(job);
    if (outcome !== undefined) await job.updateProgress(deaths);
    return outcome;
  }

  private async createMany(creates: readonly CreateJob[], options: CreateOptions): Promise<CreatedItems> {
    const isDeferred = this.indexer.shouldDefer(creates.length);
    const creating = this.creator.createMany(creates, { ...options, isFindable: !isDeferred });
    const outcomes = await this.indexer.pauseWhile(creating);
    if (isDeferred)
      this.indexer.add([...outcomes.values()].flatMap((outcome) => (outcome instanceof Error ? [] : [outcome.item])));
    this.reply(creates, outcomes);
    return outcomes;
  }

  private reply(creates: readonly CreateJob[], outcomes: CreatedItems): void {
    const replies = new Map<string, CreateReply[]>();
    const stored: { requestId: string; id: string; publicId: number }[] = [];
    for (const { id, replyTo, requestId } of creates) {
      const outcome = outcomes.get(id);
      if (outcome === undefined || outcome instanceof Error) continue;
      const reply: CreateReply = { id, outcome: { kind: 'created', ...outcome } };
      replies.set(replyTo, [...(replies.get(replyTo) ?? []), reply]);
      stored.push({ requestId, id, publicId: outcome.item.publicId });
    }
    // A line for each item would be thousands of lines per second in a burst.
    if (stored.length > 0) this.logger.info({ items: stored }, 'items stored');
    // Not awaited: if a reply is lost, the API finds the item in MongoDB.
    for (const [channel, created] of replies) void this.replies.publish(channel, created);
  }
}

/** Returns whether MongoDB is unavailable or refuses all writes, in which case the job is not at fault. */
export function isStoreUnavailable(error: Error | undefined): boolean {
  return areWritesRefused(error) || isDatabaseUnavailable(error);
}

function isRetried({ attemptsStarted }: Job): boolean {
  return attemptsStarted > 1;
}

function isSuspect({ stalledCounter }: Job): boolean {
  return stalledCounter > SUSPECT_AFTER_STALLS;
}

function parse(job: Job): CreateJob | Error {
  const parsed = parseCreateJob(job.data, job.id);
  if (parsed.kind === 'valid') return parsed.job;
  if (parsed.kind === 'other version') return new UnknownVersionError();
  return new UnrecoverableError(`Not a create job: ${parsed.reason}`);
}
