import { z } from 'zod';
import { text, wholeNumber } from './fields.js';
import { ITEM_STATUSES } from './item.js';

/** Defaults of `page` and `pageSize`. */
export const DEFAULT_PAGE = 1;
export const DEFAULT_PAGE_SIZE = 50;

/** Input of getAll. Filters are combined with AND. The status `all` matches every item. Unknown keys are dropped. */
export const GetAllInputSchema = z
  .object({
    page: wholeNumber()
      .min(1)
      .optional()
      .describe('Which page, counted from 1; 1 by default. Not with `after`. Not null.'),
    pageSize: wholeNumber().min(1).max(100).optional().describe('Items in a page; 50 by default. Not null.'),
    search: text()
      .optional()
      .describe(
        'Words that all have to be found, in any order; case and accents make no difference. Words of `name` and `brandTitle` are ' +
          'found whole or by any beginning of 2 and more characters, words of `description` (its first 200) whole; letters and digits ' +
          'that adjoin together and apart ("iphone13", "iphone 13"). The first 10 words of the first 200 characters count; without a ' +
          'word or emoji there is no search. May miss an item for 5 s after its create, longer in a burst of them. Not null.',
      ),
    categoryId: text()
      .optional()
      .describe('The category: its number as a string, or its slug; nothing is found in an unknown one. Not null.'),
    status: z
      .enum([...ITEM_STATUSES, 'all'])
      .optional()
      .describe('Only items of this status; `all`, or without it, every one. Not null.'),
    userId: text()
      .optional()
      .describe("Only this user's favourites, the latest favourited first; the newest 5,000 count. Not null."),
    after: text()
      .optional()
      .describe(
        'The `Next-After` header of the page before: the list continues there, at the cost of a first page. Or the `id` of an item: the ' +
          'list continues after its present place. Not with `page`. A cursor that was altered or is of another kind of list, and an id that ' +
          'is unknown, or for favourites none of them any more, is a 400. Not null.',
      ),
  })
  .refine((input) => input.after === undefined || input.page === undefined, {
    path: ['after'],
    error: 'after continues a list and cannot be combined with page',
    // By default zod skips object checks if a field is invalid, but all issues must be reported at once.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    description: 'Which items: all filters have to match. Unknown keys are ignored.',
    // Without a `type` here, Swagger UI shows the whole schema as `never`.
    not: { type: 'object', required: ['page', 'after'] },
  });
export type GetAllInput = z.infer<typeof GetAllInputSchema>;
