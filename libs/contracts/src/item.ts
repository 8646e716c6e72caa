import { z } from 'zod';

/** The states of an item, in lifecycle order. */
export const ITEM_STATUSES = ['available', 'reserved', 'sold', 'shipped', 'delivered', 'cancelled'] as const;

export const ItemStatusSchema = z.enum(ITEM_STATUSES);
export type ItemStatus = z.infer<typeof ItemStatusSchema>;

/** An item's id: 24 hexadecimal digits in lower case. */
export const ItemIdSchema = z
  .string()
  .regex(/^[0-9a-f]{24}$/)
  .describe("The item's id, 24 hexadecimal digits. Never null.");

const TIME = 'ISO 8601 in UTC with milliseconds';
const time = (): z.ZodISODateTime => z.iso.datetime({ precision: 3 });

/** An item in a response. It always has all fields. Times are ISO 8601 in UTC with milliseconds. */
export const ItemSchema = z
  .strictObject({
    id: ItemIdSchema,
    publicId: z.int().min(1).describe('Number of the item in a sequence. Unique, with gaps. Never null.'),
    name: z.string().describe('Name, as sent. Never null.'),
    description: z.string().describe('Description, as sent. Never null.'),
    price: z
      .number()
      .describe("Price of one piece, in units of the marketplace's currency (12.5 is 12.50). Never null."),
    status: ItemStatusSchema.describe('State of the item; `available` on create. Never null.'),
    condition: z.string().nullable().describe('Title of the condition; null if `conditionId` is null or unknown.'),
    stock: z.int().describe('Pieces in stock. Never null.'),
    categoryId: z.int().describe('Number of the category. Inputs take it as a string. Never null.'),
    sellerId: z.string().describe('Id of the seller; `anonymous` as long as there is no authentication. Never null.'),
    brandId: z.number().nullable().describe('Number of the brand, as sent; may be null.'),
    conditionId: z.number().nullable().describe('Number of the condition, as sent; may be null.'),
    isFeatured: z.boolean().describe('Whether the item is featured; false if null was sent. Never null.'),
    slug: z
      .string()
      .describe('Name in Latin letters, at most 80 characters, followed by `publicId`. Unique. Never null.'),
    imageUrl: z.string().describe('The first of `images`. Never null.'),
    isVisible: z.boolean().describe('Whether lists contain the item; true on create. Never null.'),
    createdAt: time().describe(`When the item was stored, ${TIME}. Never null.`),
    updatedAt: time().describe(`When the item was last changed, ${TIME}. Never null.`),
    deliveryOptions: z.array(z.string()).describe('Delivery methods; empty on create. Never null.'),
    deliveryCost: z
      .number()
      .describe("Delivery cost, in units of the marketplace's currency; 0 on create. Never null."),
    freeShipping: z.boolean().describe('Whether delivery is free; false on create. Never null.'),
    deliveryTimeEstimate: z.string().nullable().describe('Expected delivery time, as text; null on create.'),
    brandTitle: z.string().nullable().describe('Title of the brand; null if `brandId` is null or unknown.'),
    sizeTitle: z.string().nullable().describe('Size, as text; null on create.'),
    discount: z.string().nullable().describe('Discount, as text; null on create.'),
    favouriteCount: z.int().describe('Number of users who have favourited the item; 0 on create. Never null.'),
    viewCount: z.int().describe('Number of views; 0 on create. Never null.'),
    path: z.string().describe("Path of the item's page: `/items/{slug}`. Never null."),
    url: z.string().describe("URL of the item's page: the address of the site followed by `path`. Never null."),
    visibilityType: z.string().describe('`public` on create. Never null.'),
    isBoosted: z
      .boolean()
      .describe('Whether a boost is active at the time of the response; false on create. Never null.'),
    boostScore: z
      .number()
      .describe(
        'Rank among boosted items, without a unit. The highest comes first. 0 on create, and once the boost has lapsed. Never null.',
      ),
    boostExpiresAt: time().nullable().describe(`When the boost ends, ${TIME}. Null without a boost or without an end.`),
    images: z.array(z.string()).describe('URLs of the images, as sent. Never null.'),
    photos: z.array(z.unknown()).describe('Photos of any shape, as sent; empty if none were sent. Never null.'),
  })
  .describe('An item. It always has all fields.');
export type Item = z.infer<typeof ItemSchema>;

/** The response to a create whose client does not wait: the id under which the item will be found. */
export const QueuedItemSchema = z
  .strictObject({
    id: ItemIdSchema,
    status: z.literal('queued').describe('The create is in the queue. Never null.'),
  })
  .describe('A create that is queued, but not stored yet. `getById` finds the item once it is stored.');
export type QueuedItem = z.infer<typeof QueuedItemSchema>;

/** An item before the API adds `url`, which depends on the public address of the site. */
export type ItemWithoutUrl = Omit<Item, 'url'>;
