import { z } from 'zod';

/** The states of an item, in the order of its life. */
export const ITEM_STATUSES = ['available', 'reserved', 'sold', 'shipped', 'delivered', 'cancelled'] as const;

export const ItemStatusSchema = z.enum(ITEM_STATUSES);
export type ItemStatus = z.infer<typeof ItemStatusSchema>;

/** An item's id: 24 hexadecimal digits, lower case. */
export const ItemIdSchema = z.string().regex(/^[0-9a-f]{24}$/);

/** The item as answered: always all 35 fields; times are ISO 8601 UTC with milliseconds. */
export const ItemSchema = z.strictObject({
  id: ItemIdSchema,
  publicId: z.int().min(1),
  name: z.string(),
  description: z.string(),
  price: z.number(),
  status: ItemStatusSchema,
  condition: z.string().nullable(),
  stock: z.int(),
  categoryId: z.int(),
  sellerId: z.string(),
  brandId: z.number().nullable(),
  conditionId: z.number().nullable(),
  isFeatured: z.boolean(),
  slug: z.string(),
  imageUrl: z.string(),
  isVisible: z.boolean(),
  createdAt: z.iso.datetime({ precision: 3 }),
  updatedAt: z.iso.datetime({ precision: 3 }),
  deliveryOptions: z.array(z.string()),
  deliveryCost: z.number(),
  freeShipping: z.boolean(),
  deliveryTimeEstimate: z.string().nullable(),
  brandTitle: z.string().nullable(),
  sizeTitle: z.string().nullable(),
  discount: z.string().nullable(),
  favouriteCount: z.int(),
  viewCount: z.int(),
  path: z.string(),
  url: z.string(),
  visibilityType: z.string(),
  isBoosted: z.boolean(),
  boostScore: z.number(),
  boostExpiresAt: z.iso.datetime({ precision: 3 }).nullable(),
  images: z.array(z.string()),
  photos: z.array(z.unknown()),
});
export type Item = z.infer<typeof ItemSchema>;

/** An item before the API adds `url`, which depends on the public address of the site. */
export type SitelessItem = Omit<Item, 'url'>;
