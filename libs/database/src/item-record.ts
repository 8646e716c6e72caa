import type { SitelessItem } from '@app/contracts';
import type { Types } from 'mongoose';

/**
 * An item as stored in `items`: the Item's fields under their own names (`_id` for `id`, no `url`),
 * times as Date, and what only the service itself reads. Other services may write some of the
 * fields; README, "Collections", says which.
 */
export interface ItemRecord extends Omit<SitelessItem, 'id' | 'createdAt' | 'updatedAt' | Unsettable> {
  _id: Types.ObjectId;
  createdAt: Date;
  updatedAt: Date;
  boostExpiresAt?: Date | null;
  deliveryTimeEstimate?: string | null;
  brandTitle?: string | null;
  sizeTitle?: string | null;
  discount?: string | null;
  /** Hash of the create request, compared when an Idempotency-Key is used again. */
  requestHash: string;
  /** What search looks up: see `searchTerms` in libs/items. A new item gets it soon after it is stored. */
  searchTerms?: string[];
  /** Which rules made `searchTerms`; unset by whoever changes the name, description or brandTitle. */
  searchVersion?: number;
}

/** Nullable fields that another service may also unset. */
type Unsettable = 'boostExpiresAt' | 'deliveryTimeEstimate' | 'brandTitle' | 'sizeTitle' | 'discount';

/** The stored fields of an answer. */
export type StoredItem = Omit<ItemRecord, 'requestHash' | 'searchTerms' | 'searchVersion'>;

/**
 * The wire form of a stored item at a moment: a boost that has ended is answered as ended, also
 * before the maintenance job has cleared it. A nullable field that was unset reads as null.
 */
export function toSitelessItem(record: StoredItem, now: Date): SitelessItem {
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
    isBoosted: isBoostActive(record, now),
    boostScore: record.boostScore,
    boostExpiresAt: record.boostExpiresAt?.toISOString() ?? null,
    images: record.images,
    photos: record.photos,
  };
}

/** A boost is active while it is on and its end is absent or still to come. */
function isBoostActive(record: Pick<ItemRecord, 'isBoosted' | 'boostExpiresAt'>, now: Date): boolean {
  return record.isBoosted && (!record.boostExpiresAt || record.boostExpiresAt > now);
}
