import { UnrecoverableError, type Job } from 'bullmq';
import { z } from 'zod';
import { CREATE_JOB_VERSION, CreateJobSchema, type CreateJob, type CreateReply } from '@app/contracts';
import type { CreatedItem, ItemCreator } from '@app/items';
import type { ReplyPublisher } from '@app/queue';
import type { Logger } from '@app/runtime';
import { MicroBatcher } from './micro-batcher.js';

/** A batch beyond this size gains little, and a larger one holds its first job back. */
const BATCH_SIZE = 128;
/** While one batch is on its way to the disk, another is made. */
const BATCHES_UNDER_WAY = 2;

/** A job in whose midst this many workers have died, and whose item is not there, is what they died of. */
const MAX_STALLS = 25;

/** The job was queued by a newer API than this worker is of: one of its own time will come. */
export class UnknownVersionError extends Error {}

/** Create jobs: their data in, the stored items out to whoever waits for them. */
export class CreateItemProcessor {
  private readonly batcher: MicroBatcher<CreateJob, CreatedItem>;

  constructor(
    private readonly creator: ItemCreator,
    private readonly replies: ReplyPublisher,
    private readonly logger: Logger,
  ) {
    this.batcher = new MicroBatcher((creates) => this.createMany(creates), BATCH_SIZE, BATCHES_UNDER_WAY);
  }

  /**
   * Stores the item of a job, together with those of the jobs at hand. Processing a job twice stores one item.
   *
   * @throws UnrecoverableError when the data is no create job: trying again would not help
   * @throws UnknownVersionError when the data is of another version
   */
  async process(job: Job): Promise<void> {
    const create = parse(job);
    if (job.stalledCounter > MAX_STALLS && (await this.creator.findCreated([create.id])).size === 0) {
      throw new UnrecoverableError('Workers died of it again and again');
    }
    const { item } = await this.batcher.add(create);
    this.logger.info({ requestId: create.requestId, id: create.id, publicId: item.publicId }, 'item stored');
  }

  /** Tells whoever waits that the job will not be tried again. */
  async giveUp(job: Job, reason: string): Promise<void> {
    const { requestId, replyTo } = CreateJobSchema.pick({ requestId: true, replyTo: true })
      .partial()
      .catch({})
      .parse(job.data);
    this.logger.error({ requestId, id: job.id, reason }, 'create failed for good');
    if (replyTo === undefined || job.id === undefined) return;
    await this.replies.publish(replyTo, [{ id: job.id, outcome: { kind: 'failed' } }]);
  }

  private async createMany(creates: readonly CreateJob[]): Promise<(CreatedItem | Error)[]> {
    const outcomes = await this.creator.createMany(creates);
    const replies = new Map<string, CreateReply[]>();
    for (const { id, replyTo } of creates) {
      const outcome = outcomes.get(id);
      if (outcome === undefined || outcome instanceof Error) continue;
      const reply: CreateReply = { id, outcome: { kind: 'created', ...outcome } };
      const sameInstance = replies.get(replyTo);
      if (sameInstance === undefined) replies.set(replyTo, [reply]);
      else sameInstance.push(reply);
    }
    // Not awaited: who waits for a reply that is lost finds the item in MongoDB.
    for (const [channel, created] of replies) void this.replies.publish(channel, created);
    return creates.map(({ id }) => outcomes.get(id) ?? new Error('The batch has not said what became of the item'));
  }
}

function parse(job: Job): CreateJob {
  const { version } = (job.data ?? {}) as { version?: unknown };
  if (typeof version === 'number' && version !== CREATE_JOB_VERSION) throw new UnknownVersionError();
  const { success, data, error } = CreateJobSchema.safeParse(job.data);
  if (!success) throw new UnrecoverableError(`Not a create job: ${z.prettifyError(error)}`);
  if (data.id !== job.id) throw new UnrecoverableError('Not a create job: its id differs from the job id');
  return data;
}
