import { z } from 'zod';
import { ERRORS, type ErrorCode } from './errors.js';
import { ItemIdSchema } from './item.js';

const IssuesSchema = z
  .strictObject({
    issues: z
      .array(
        z.strictObject({
          path: z.array(z.union([z.string(), z.int()])).describe('The way to the field; empty for the whole body.'),
          message: z.string().describe('What is wrong with it, in English.'),
        }),
      )
      .describe('Everything that is wrong with the body, at once.'),
  })
  .describe('Left out where the request is refused as a whole: malformed JSON, a bad Idempotency-Key.');

const UnknownOutcomeSchema = z
  .strictObject({ id: ItemIdSchema, outcome: z.literal('unknown').describe('The item may be stored, now or later.') })
  .describe('What to ask getById for.');

const DATA = {
  BAD_REQUEST: { data: IssuesSchema.optional() },
  GATEWAY_TIMEOUT: { data: UnknownOutcomeSchema },
};

/** Returns the schema of the error body that the item operations send for a code. */
export function errorSchema(code: ErrorCode): z.ZodObject {
  return z.strictObject({
    defined: z.literal(false).describe('Always false; oRPC clients read it.'),
    code: z.literal(code).describe('Name of the error, for programs.'),
    status: z.literal(ERRORS[code].status).describe('The HTTP status.'),
    message: z.string().describe('What went wrong, in English, for people; its wording may change.'),
    ...(code in DATA ? DATA[code as keyof typeof DATA] : {}),
  });
}
