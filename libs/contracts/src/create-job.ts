import { z } from 'zod';
import { NewItemSchema } from './create-item.js';
import { issuesOf } from './input-issues.js';
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
  /** The span that queued the job (https://www.w3.org/TR/trace-context/), if tracing is on. */
  traceparent: z.string().optional().catch(undefined),
  item: NewItemSchema,
});
export type CreateJob = z.infer<typeof CreateJobSchema>;

/** The data of a job, as this release understands it. */
export type ParsedCreateJob =
  | { kind: 'valid'; job: CreateJob }
  /** Another release understands it. */
  | { kind: 'other version' }
  /** No item can ever be stored from it. */
  | { kind: 'invalid'; reason: string };

/** Parses the data of the job with this id. */
export function parseCreateJob(data: unknown, id: string | undefined): ParsedCreateJob {
  const { version } = (data ?? {}) as { version?: unknown };
  if (typeof version === 'number' && version !== CREATE_JOB_VERSION) return { kind: 'other version' };
  const { success, data: job, error } = CreateJobSchema.safeParse(data);
  if (!success) return { kind: 'invalid', reason: reasonOf(error) };
  return job.id === id ? { kind: 'valid', job } : { kind: 'invalid', reason: 'its id differs from the job id' };
}

/** Returns what is wrong, in one line: lists of failed jobs show only the first line. */
function reasonOf(error: z.ZodError): string {
  return issuesOf(error)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
}

/** The outcome of a create: the stored item and the hash of the request that created it, or a permanent failure. */
export type CreateOutcome = { kind: 'created'; item: ItemWithoutUrl; requestHash: string } | { kind: 'failed' };

/** The reply to one create. A message on a reply channel is an array of replies. */
export interface CreateReply {
  id: string;
  outcome: CreateOutcome;
}
