import { createHash } from 'node:crypto';
import { CreateItemInputSchema, exactNumber, ItemStatusSchema, text, wholeNumber } from '@app/contracts';
import { newItemRecord, searchFields, type Assigned } from '@app/items';
import { FIRST_TIME, LAST_TIME, type ItemRecord } from '@app/database';
import { z } from 'zod';
import type { SourceLine } from './source-line.js';

/** A time that an item can have, in UTC. Leaves what is no time to the check before. */
const time = (): z.ZodISODateTime =>
  z.iso.datetime({ offset: true }).refine((text) => !(new Date(text) < FIRST_TIME || new Date(text) > LAST_TIME), {
    error: 'Time outside the years 0000 to 9999 in UTC',
  });
const count = (): z.ZodInt => wholeNumber().min(0);

/** A line of an item file: the input of create, plus fields that may have changed after the create. */
export const ItemLineSchema = CreateItemInputSchema.extend({
  ...z
    .object({
      /** The item's id in the system that it comes from. Lines with the same one are the same item. */
      externalId: text(1, 1000),
      status: ItemStatusSchema,
      sellerId: text(1),
      createdAt: time(),
      updatedAt: time(),
      isBoosted: z.boolean(),
      boostScore: exactNumber().min(0),
      boostExpiresAt: time().nullable(),
      isVisible: z.boolean(),
      favouriteCount: count(),
      viewCount: count(),
      deliveryOptions: z.array(text()).max(50),
      deliveryCost: exactNumber().min(0).max(999_999.99),
      freeShipping: z.boolean(),
      deliveryTimeEstimate: text().nullable(),
      sizeTitle: text().nullable(),
      discount: text().nullable(),
    })
    .partial().shape,
});
export type ItemLine = z.infer<typeof ItemLineSchema>;

/** The seller of a line without `sellerId`, as for a create without authentication. */
const ANONYMOUS = 'anonymous';

/** The validated item of a line, before it has a `publicId`. */
export interface ImportedItem {
  id: string;
  line: SourceLine;
  data: ItemLine;
  categoryId: number;
}

/**
 * Returns the id of a line's item, which is always the same for the same `externalId` or, without one, for the same
 * text. Because MongoDB's `_id` is unique, loading a file again duplicates nothing. Two equal lines without
 * `externalId` are one item.
 */
export function importedItemId({ text }: Pick<SourceLine, 'text'>, externalId: string | undefined): string {
  const name = externalId === undefined ? ['import-v1', null, text] : ['import-v1', externalId];
  return createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, 24);
}

/** Returns the complete record of an item, including its search terms. */
export function toRecord({ id, line, data, categoryId }: ImportedItem, assigned: Assigned): ItemRecord {
  const { sellerId = ANONYMOUS } = data;
  const requestHash = createHash('sha256').update(line.text).digest('base64url');
  const created = newItemRecord({ id, sellerId, requestHash, item: { ...data, categoryId } }, assigned);
  const createdAt = data.createdAt === undefined ? assigned.now : new Date(data.createdAt);
  return {
    ...created,
    status: data.status ?? created.status,
    isVisible: data.isVisible ?? created.isVisible,
    createdAt,
    updatedAt: data.updatedAt === undefined ? createdAt : new Date(data.updatedAt),
    favouriteCount: data.favouriteCount ?? created.favouriteCount,
    viewCount: data.viewCount ?? created.viewCount,
    deliveryOptions: data.deliveryOptions ?? created.deliveryOptions,
    deliveryCost: data.deliveryCost ?? created.deliveryCost,
    freeShipping: data.freeShipping ?? created.freeShipping,
    deliveryTimeEstimate: data.deliveryTimeEstimate ?? null,
    sizeTitle: data.sizeTitle ?? null,
    discount: data.discount ?? null,
    ...boostOf(data, assigned.now),
    ...searchFields(created),
  };
}

/** The score is 0 without a boost, because lists are sorted by it. A lapsed boost counts as none. */
function boostOf({ isBoosted = false, boostScore = 0, boostExpiresAt }: ItemLine, now: Date): Partial<ItemRecord> {
  const end = boostExpiresAt ? new Date(boostExpiresAt) : null;
  const isActive = isBoosted && (end === null || end > now);
  return { isBoosted: isActive, boostScore: isActive ? boostScore : 0, boostExpiresAt: end };
}
