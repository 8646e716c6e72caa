import { z } from 'zod';

/** Input of getById. Any string is taken: one that is no item's id is simply not found. */
export const GetByIdInputSchema = z.object({ id: z.string() });
export type GetByIdInput = z.infer<typeof GetByIdInputSchema>;
