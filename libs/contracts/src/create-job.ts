import { z } from 'zod';
import { NewItemSchema } from './create-item.js';
import { ItemIdSchema, type ItemWithoutUrl } from './item.js';

/** The shape of job data written today; a worker tells by it whether it understands a job. */
export const CREATE_JOB_VERSION = 1;

/** Data of one create job. The job's id in the queue is `id`, which becomes the item's `_id`. */
export const CreateJobSchema = z.object({
  version: z.literal(CREATE_JOB_VERSION),
  id: ItemIdSchema,
  /** Hash of the validated input, kept with the item. */
  requestHash: z.string(),
  /** Id of the HTTP request, for the log lines of both processes. */
  requestId: z.string(),
  /** Channel of the API instance that waits for the outcome. */
  replyTo: z.string(),
  sellerId: z.string(),
  item: NewItemSchema,
});
export type CreateJob = z.infer<typeof CreateJobSchema>;

/** What became of a create: what is stored, and the hash of the request that made it; or the job's final failure. */
export type CreateOutcome = { kind: 'created'; item: ItemWithoutUrl; requestHash: string } | { kind: 'failed' };

/** One outcome in a message on a reply channel, which is an array of them. */
export interface CreateReply {
  id: string;
  outcome: CreateOutcome;
}
