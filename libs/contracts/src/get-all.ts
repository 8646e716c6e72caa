import { z } from 'zod';
import { text, wholeNumber } from './fields.js';
import { ITEM_STATUSES } from './item.js';

/** A list request without `page` or `pageSize` means the first page of 50. */
export const DEFAULT_PAGE = 1;
export const DEFAULT_PAGE_SIZE = 50;

/** Input of getAll. Filters combine with AND; `all` is every status; unknown keys are dropped. */
export const GetAllInputSchema = z
  .object({
    page: wholeNumber().min(1).optional(),
    pageSize: wholeNumber().min(1).max(100).optional(),
    search: text().optional(),
    categoryId: text().optional(),
    status: z.enum([...ITEM_STATUSES, 'all']).optional(),
    userId: text().optional(),
    after: text().optional(),
  })
  .refine((input) => input.after === undefined || input.page === undefined, {
    path: ['after'],
    error: 'after goes on behind an item and cannot be combined with page',
    // Zod leaves object checks out once a field is wrong; all issues are to be reported at once.
    when: ({ value }) => typeof value === 'object' && value !== null,
  });
export type GetAllInput = z.infer<typeof GetAllInputSchema>;
