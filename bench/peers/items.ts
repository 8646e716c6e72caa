import {
  categoryNumber,
  DEFAULT_PAGE,
  DEFAULT_PAGE_SIZE,
  ITEM_STATUSES,
  type CreateItemInput,
  type GetAllInput,
  type Item,
  type ItemStatus,
} from '@app/contracts';
import { newMongoId, type ItemRecord, type TitleRecord } from '@app/database';
import { newItemRecord, searchTerms } from '@app/items';
import type { mongo } from 'mongoose';

export const settings = {
  mongodbUri: process.env['MONGODB_URI'] ?? '',
  redisUrl: process.env['REDIS_URL'] ?? '',
  queue: process.env['QUEUE_PREFIX'] ?? '',
  port: Number(process.env['PORT']),
  workerPort: Number(process.env['WORKER_PORT']),
  /** Whether items are stored with search terms. */
  isSearched: process.env['PEER_SEARCH'] !== 'off',
};

/** The write concern of the service: journaled by a majority before a write is acknowledged. */
export const WRITE_CONCERN = { w: 'majority', journal: true } as const;

export const COUNTER = 'item.publicId';

/** Titles by number. */
export type References = Record<'brands' | 'conditions', Map<number, string>>;

/** Reads all titles once at the start, so that no item costs a lookup. */
export async function loadReferences(db: mongo.Db): Promise<References> {
  const titles = async (name: string): Promise<Map<number, string>> => {
    const records = await db.collection<TitleRecord>(name).find().toArray();
    return new Map(records.map(({ _id, title }) => [_id, title]));
  };
  return { brands: await titles('brands'), conditions: await titles('conditions') };
}

/** Returns the document to store: the service's fields, with slug and search terms from the same functions. */
export function toRecord(input: CreateItemInput, publicId: number, { brands, conditions }: References): ItemRecord {
  const brandTitle = brands.get(input.brandId ?? 0) ?? null;
  const condition = conditions.get(input.conditionId ?? 0) ?? null;
  const item = { ...input, categoryId: categoryNumber(input.categoryId) ?? 0 };
  // A peer does not support Idempotency-Key, so it has no hash of the request.
  const request = { id: newMongoId(), sellerId: 'anonymous', requestHash: '', item };
  return {
    ...newItemRecord(request, { publicId, brandTitle, condition, now: new Date() }),
    searchTerms: settings.isSearched ? searchTerms({ ...input, brandTitle }) : [],
    searchVersion: 1,
  };
}

/** Excludes the fields that no response contains. */
export const RESPONSE_PROJECTION = { requestHash: 0, searchTerms: 0, searchVersion: 0 } as const;

/** The order of every list, as in the service. */
const ORDER = { isBoosted: -1, boostScore: -1, createdAt: -1, publicId: -1 } as const;

/** The query for a page of a list, for the driver and for mongoose. */
interface PageQuery {
  filter: { isVisible: true; status: ItemStatus | { $in: ItemStatus[] }; categoryId?: number };
  options: { sort: typeof ORDER; skip: number; limit: number };
}

/**
 * Returns the query for a page of a list. Without a status it names all of them, so that the service's index, which
 * begins with the status, returns the items in order.
 */
export function pageQuery(input: GetAllInput): PageQuery {
  const { page = DEFAULT_PAGE, pageSize: limit = DEFAULT_PAGE_SIZE, categoryId, status = 'all' } = input;
  const filter: PageQuery['filter'] = {
    isVisible: true,
    status: status === 'all' ? { $in: [...ITEM_STATUSES] } : status,
  };
  if (categoryId !== undefined) filter.categoryId = categoryNumber(categoryId) ?? -1;
  return { filter, options: { sort: ORDER, skip: (page - 1) * limit, limit } };
}

export function toItem(record: Omit<ItemRecord, 'requestHash'>): Item {
  const isActive = record.isBoosted && (!record.boostExpiresAt || record.boostExpiresAt > new Date());
  return {
    id: record._id.toHexString(),
    publicId: record.publicId,
    name: record.name,
    description: record.description,
    price: record.price,
    status: record.status,
    condition: record.condition,
    stock: record.stock,
    categoryId: record.categoryId,
    sellerId: record.sellerId,
    brandId: record.brandId,
    conditionId: record.conditionId,
    isFeatured: record.isFeatured,
    slug: record.slug,
    imageUrl: record.imageUrl,
    isVisible: record.isVisible,
    createdAt: record.createdAt.toISOString(),
    updatedAt: record.updatedAt.toISOString(),
    deliveryOptions: record.deliveryOptions,
    deliveryCost: record.deliveryCost,
    freeShipping: record.freeShipping,
    deliveryTimeEstimate: record.deliveryTimeEstimate ?? null,
    brandTitle: record.brandTitle ?? null,
    sizeTitle: record.sizeTitle ?? null,
    discount: record.discount ?? null,
    favouriteCount: record.favouriteCount,
    viewCount: record.viewCount,
    path: record.path,
    visibilityType: record.visibilityType,
    isBoosted: isActive,
    boostScore: isActive || !record.isBoosted ? record.boostScore : 0,
    boostExpiresAt: record.boostExpiresAt?.toISOString() ?? null,
    images: record.images,
    photos: record.photos,
    url: `http://localhost:3000${record.path}`,
  };
}
