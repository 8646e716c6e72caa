import { z } from 'zod';
import { findInexactness } from './exact-value.js';
import { exactNumber, text, wholeNumber } from './fields.js';

/** Up to five elements of any JSON shape, kept exactly as sent. */
const PhotosSchema = z
  .array(z.unknown())
  .min(1)
  .max(5, { abort: true })
  .superRefine((photos, context) => {
    for (const { path, message } of findInexactness(photos)) context.addIssue({ code: 'custom', path, message });
  });

/** The length is judged first: a hundred thousand wrong elements are one issue, not a hundred thousand. */
const ImagesSchema = z.array(z.unknown()).min(1).max(5).pipe(z.array(text()).min(1).max(5));

const fields = {
  name: text(3),
  description: text(10),
  price: exactNumber().min(0).max(999_999.99),
  stock: wholeNumber().min(1),
  brandId: exactNumber().nullable(),
  conditionId: exactNumber().nullable(),
  isFeatured: z.boolean().nullable(),
  images: ImagesSchema,
  photos: PhotosSchema.optional(),
};

/** Input of create, as a client sends it; unknown keys, server fields among them, are dropped. */
export const CreateItemInputSchema = z.object({ ...fields, categoryId: text(1) });
export type CreateItemInput = z.infer<typeof CreateItemInputSchema>;

/** A create whose category is resolved to its number: nothing is left to refuse. */
export const NewItemSchema = z.object({ ...fields, categoryId: wholeNumber().min(0) });
export type NewItem = z.infer<typeof NewItemSchema>;
