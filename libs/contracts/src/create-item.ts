import { z } from 'zod';
import { findInexactness } from './exact-value.js';
import { exactNumber, text, wholeNumber } from './fields.js';

function numberOf(what: string): string {
  return `Number of the ${what}. Any number is accepted, except a whole number beyond ±(2^53 − 1). Null if there is none.`;
}

/** Up to five elements of any JSON shape, kept exactly as sent. */
const PhotosSchema = z
  .array(z.unknown())
  .min(1)
  .max(5, { abort: true })
  .superRefine((photos, context) => {
    for (const { path, message } of findInexactness(photos)) context.addIssue({ code: 'custom', path, message });
  });

/** Checks the length first, so that an array with 100,000 invalid elements is one issue, not 100,000. */
const ImagesSchema = z
  // Accepts anything, but oRPC's clients get the type of what the pipe accepts.
  .array(z.unknown() as z.ZodType<string, string>)
  .min(1)
  .max(5)
  .pipe(z.array(text()).min(1).max(5))
  // The JSON schema describes the input of the pipe, where the elements are still unknown.
  .meta({ items: { type: 'string' } });

const fields = {
  name: text(3).describe('Name, at least 3 characters (Unicode code points). Not null.'),
  description: text(10).describe('Description, at least 10 characters (Unicode code points). Not null.'),
  price: exactNumber()
    .min(0)
    .max(999_999.99)
    .describe("Price of one piece, in units of the marketplace's currency (12.5 is 12.50). Not null."),
  stock: wholeNumber().min(1).describe('Pieces in stock. Not null.'),
  brandId: exactNumber().nullable().describe(numberOf('brand')),
  conditionId: exactNumber().nullable().describe(numberOf('condition')),
  isFeatured: z.boolean().nullable().describe('Whether the item is featured; null counts as false.'),
  images: ImagesSchema.describe('URLs of 1 to 5 images. The first one is the main image. Not null.'),
  photos: PhotosSchema.optional().describe(
    '1 to 5 photos of any JSON shape, stored as sent. What cannot be stored exactly is refused: more than 32 levels of nesting ' +
      '(the array is the first), whole numbers beyond ±(2^53 − 1), NUL in a key, the key `_bsontype`, and objects with `$ref` and ' +
      '`$id` whose `$ref` has one dot or that have a key `__proto__`. Not null.',
  ),
};

/** Input of create, as a client sends it. Unknown keys are dropped, including fields that the service sets. */
export const CreateItemInputSchema = z
  .object({
    ...fields,
    categoryId: text(1).describe(
      'Category: its number as a string (`7`; any number is accepted), or its slug (an unknown slug is a 400). Not null.',
    ),
  })
  .describe('A new item. Unknown keys are ignored, including fields that the service sets.');
export type CreateItemInput = z.infer<typeof CreateItemInputSchema>;

/** A validated create, with the number of its category. */
export const NewItemSchema = z.object({ ...fields, categoryId: wholeNumber().min(0) });
export type NewItem = z.infer<typeof NewItemSchema>;
