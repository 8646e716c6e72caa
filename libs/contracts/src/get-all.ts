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
      .describe('Number of the page, from 1; 1 by default. Cannot be combined with `after`. Not null.'),
    pageSize: wholeNumber().min(1).max(100).optional().describe('Items per page; 50 by default. Not null.'),
    search: text()
      .optional()
      .describe(
        'Words that an item must contain, in any order, regardless of case and accents. Words of `name` and `brandTitle` match ' +
          'whole or by their first 2 or more characters; words of `description` (its first 200) match whole. Adjoining letters and ' +
          'digits match with and without a space ("iphone13", "iphone 13"). The first 10 words of the first 200 characters count. ' +
          'Without a word or an emoji, there is no search. May miss an item for 5 s after it was created, or longer in a burst. Not null.',
      ),
    categoryId: text()
      .optional()
      .describe('Category: its number as a string, or its slug. An unknown category has no items. Not null.'),
    status: z
      .enum([...ITEM_STATUSES, 'all'])
      .optional()
      .describe('Only items of this status. With `all`, or without a status, items of every status. Not null.'),
    userId: text()
      .optional()
      .describe(
        "Only this user's favourites, the most recently favourited first. Only the newest 5,000 count. Not null.",
      ),
    after: text()
      .optional()
      .describe(
        'The `Next-After` header of the previous page: the list continues there, at the cost of a first page. Or the `id` of an ' +
          'item: the list continues after its current position. Cannot be combined with `page`. An altered cursor, a cursor of ' +
          'another kind of list, an unknown id and, for favourites, the id of an item that is not one of them are a 400. Not null.',
      ),
  })
  .refine((input) => input.after === undefined || input.page === undefined, {
    path: ['after'],
    error: 'after continues a list and cannot be combined with page',
    // By default zod skips object checks if a field is invalid, but all issues must be reported at once.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
  .meta({
    description: 'Filters and paging of a list. Items must match all filters. Unknown keys are ignored.',
    // Without a `type` here, Swagger UI shows the whole schema as `never`.
    not: { type: 'object', required: ['page', 'after'] },
  });
export type GetAllInput = z.infer<typeof GetAllInputSchema>;
