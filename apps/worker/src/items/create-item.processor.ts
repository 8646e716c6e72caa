import { UnrecoverableError, type Job } from 'bullmq';
import { z } from 'zod';
import { CreateJobSchema, type CreateJob } from '@app/contracts';
import type { ItemCreator } from '@app/items';
import type { ReplyPublisher } from '@app/queue';
import type { Logger } from '@app/runtime';

/** One create job: its data in, the stored item out to whoever waits for it. */
export class CreateItemProcessor {
  constructor(
    private readonly creator: ItemCreator,
    private readonly replies: ReplyPublisher,
    private readonly logger: Logger,
  ) {}

  /**
   * Stores the item of a job. Processing a job twice stores one item.
   *
   * @throws UnrecoverableError when the data is no create job: trying again would not help
   */
  async process(job: Job): Promise<void> {
    const create = parse(job);
    const item = await this.creator.create(create);
    const { id, requestId, replyTo } = create;
    this.logger.info({ requestId, id, publicId: item.publicId }, 'item stored');
    await this.replies.publish(replyTo, { id, outcome: { kind: 'created', item } });
  }

  /** Tells whoever waits that the job will not be tried again. */
  async giveUp(job: Job, reason: string): Promise<void> {
    const { requestId, replyTo } = CreateJobSchema.pick({ requestId: true, replyTo: true })
      .partial()
      .catch({})
      .parse(job.data);
    this.logger.error({ requestId, id: job.id, reason }, 'create failed for good');
    if (replyTo === undefined || job.id === undefined) return;
    await this.replies.publish(replyTo, { id: job.id, outcome: { kind: 'failed' } });
  }
}

function parse(job: Job): CreateJob {
  const { success, data, error } = CreateJobSchema.safeParse(job.data);
  if (!success) throw new UnrecoverableError(`Not a create job: ${z.prettifyError(error)}`);
  if (data.id !== job.id) throw new UnrecoverableError('Not a create job: its id differs from the job id');
  return data;
}
