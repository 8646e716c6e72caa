import { z } from 'zod';

/** Input of getById. Accepts any string; one that is not the id of an item is not found. */
export const GetByIdInputSchema = z
  .object({ id: z.string().describe('The `id` of an item. Any other string is a 404. Not null.') })
  .describe('The item to return. Unknown keys are ignored.');
export type GetByIdInput = z.infer<typeof GetByIdInputSchema>;
