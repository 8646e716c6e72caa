import type { ItemWithoutUrl } from '@app/contracts';
import type { Types } from 'mongoose';

/**
 * An item as stored in `items`: the fields of an Item under their own names (`_id` for `id`, no `url`), times as Date,
 * and fields that only the service itself reads. Other services may write some of them; see docs/collections.md.
 */
export interface ItemRecord
  extends
    Omit<ItemWithoutUrl, 'id' | 'createdAt' | 'updatedAt' | 'boostExpiresAt' | MaybeUnset>,
    Partial<Pick<ItemWithoutUrl, MaybeUnset>> {
  _id: Types.ObjectId;
  createdAt: Date;
  updatedAt: Date;
  boostExpiresAt?: Date | null;
  /** Hash of the create request, compared if an Idempotency-Key is used again. */
  requestHash: string;
  /** The terms that search looks up; see `searchTerms` in libs/items. A new item may get them after it is stored. */
  searchTerms?: string[];
  /**
   * The version of the rules for `searchTerms`, or {@link NOT_INDEXED}. Whoever changes name, description or brandTitle
   * unsets it.
   */
  searchVersion?: number;
}

/** The `searchVersion` of a new item that gets its terms after it is stored. */
export const NOT_INDEXED = 0;

/**
 * Nullable fields that a stored item may lack, because it was stored before they existed, or because another service has
 * unset them. So may `boostExpiresAt`.
 */
type MaybeUnset = 'deliveryTimeEstimate' | 'brandTitle' | 'sizeTitle' | 'discount';
