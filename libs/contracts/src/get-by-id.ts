import { z } from 'zod';

/** Input of getById. Any string is taken: one that is no item's id is simply not found. */
export const GetByIdInputSchema = z
  .object({ id: z.string().describe("The item's `id`; any other string is not found. Not null.") })
  .describe('Which item. Unknown keys are ignored.');
export type GetByIdInput = z.infer<typeof GetByIdInputSchema>;
