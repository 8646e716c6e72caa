import { z } from 'zod';

/** Input of getById. Accepts any string; one that is not the id of an item is not found. */
export const GetByIdInputSchema = z
  .object({ id: z.string().describe("The item's `id`; any other string is not found. Not null.") })
  .describe('Which item. Unknown keys are ignored.');
export type GetByIdInput = z.infer<typeof GetByIdInputSchema>;
