import { z } from 'zod';
import { NewItemSchema } from './create-item.js';
import { ItemIdSchema, type ItemWithoutUrl } from './item.js';

/** The version of the job data, by which a worker recognises jobs that it understands. */
export const CREATE_JOB_VERSION = 1;

/** Data of a create job. Its `id` is also the id of the job in the queue, and becomes the `_id` of the item. */
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

/** The outcome of a create: the stored item and the hash of the request that created it, or a permanent failure. */
export type CreateOutcome = { kind: 'created'; item: ItemWithoutUrl; requestHash: string } | { kind: 'failed' };

/** The reply to one create. A message on a reply channel is an array of replies. */
export interface CreateReply {
  id: string;
  outcome: CreateOutcome;
}
