import type { ItemWithoutUrl } from '@app/contracts';
import type { Types } from 'mongoose';

/**
 * An item as stored in `items`: the Item's fields under their own names (`_id` for `id`, no `url`),
 * times as Date, and what only the service itself reads. Other services may write some of the
 * fields; README, "Collections", says which.
 */
export interface ItemRecord extends Omit<ItemWithoutUrl, 'id' | 'createdAt' | 'updatedAt' | Unsettable> {
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
