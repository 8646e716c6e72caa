import type { NewItem } from '@app/contracts';
import { mongoId, type ItemRecord, type Titles } from '@app/database';
import { itemSlug } from './slug.js';

/** What is known about an item before it is created. */
export interface CreateRequest {
  id: string;
  sellerId: string;
  requestHash: string;
  item: NewItem;
}

/** What the service adds when it creates the item. */
export interface Assigned extends Titles {
  publicId: number;
  now: Date;
}

/**
 * Returns the record of a new item, complete except for its search terms. Fields that the input does not set get the
 * values of a new item.
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
