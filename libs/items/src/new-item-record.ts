import type { NewItem } from '@app/contracts';
import { mongoId, type ItemRecord } from '@app/database';
import { itemSlug } from './slug.js';

/** What is known of an item before it is created. */
export interface CreateRequest {
  id: string;
  sellerId: string;
  requestHash: string;
  item: NewItem;
}

/** What creating it adds. */
export interface Assigned {
  publicId: number;
  brandTitle: string | null;
  condition: string | null;
  now: Date;
}

/**
 * The record of a new item, complete but for its search terms: what was sent, and for every other field what a new item
 * has.
 */
export function newItemRecord({ id, sellerId, requestHash, item }: CreateRequest, assigned: Assigned): ItemRecord {
  const slug = itemSlug(item.name, assigned.publicId);
  return {
    _id: mongoId(id),
    publicId: assigned.publicId,
    name: item.name,
    description: item.description,
    price: item.price,
    status: 'available',
    condition: assigned.condition,
    stock: item.stock,
    categoryId: item.categoryId,
    sellerId,
    brandId: item.brandId,
    conditionId: item.conditionId,
    isFeatured: item.isFeatured ?? false,
    slug,
    imageUrl: item.images[0] ?? '',
    isVisible: true,
    createdAt: assigned.now,
    updatedAt: assigned.now,
    deliveryOptions: [],
    deliveryCost: 0,
    freeShipping: false,
    deliveryTimeEstimate: null,
    brandTitle: assigned.brandTitle,
    sizeTitle: null,
    discount: null,
    favouriteCount: 0,
    viewCount: 0,
    path: `/items/${slug}`,
    visibilityType: 'public',
    isBoosted: false,
    boostScore: 0,
    boostExpiresAt: null,
    images: item.images,
    photos: item.photos ?? [],
    requestHash,
  };
}
