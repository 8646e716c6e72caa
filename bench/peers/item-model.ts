import type { ItemRecord } from '@app/database';
import { Schema, type Connection, type Types } from 'mongoose';

/** A peer stores no hash of the request, because it does not support Idempotency-Key. */
export type PeerRecord = Omit<ItemRecord, 'requestHash'>;

const required = true;

const itemSchema = new Schema<PeerRecord>(
  {
    publicId: { type: Number, required },
    name: { type: String, required },
    description: { type: String, required },
    price: { type: Number, required },
    status: { type: String, required },
    condition: String,
    stock: { type: Number, required },
    categoryId: { type: Number, required },
    sellerId: { type: String, required },
    brandId: Number,
    conditionId: Number,
    isFeatured: { type: Boolean, required },
    slug: { type: String, required },
    imageUrl: { type: String, required },
    isVisible: { type: Boolean, required },
    createdAt: { type: Date, required },
    updatedAt: { type: Date, required },
    deliveryOptions: [String],
    deliveryCost: { type: Number, required },
    freeShipping: { type: Boolean, required },
    deliveryTimeEstimate: String,
    brandTitle: String,
    sizeTitle: String,
    discount: String,
    favouriteCount: { type: Number, required },
    viewCount: { type: Number, required },
    path: { type: String, required },
    visibilityType: { type: String, required },
    isBoosted: { type: Boolean, required },
    boostScore: { type: Number, required },
    boostExpiresAt: Date,
    images: [String],
    photos: [Schema.Types.Mixed],
    searchTerms: [String],
    searchVersion: Number,
  },
  { versionKey: false, autoIndex: false, collection: 'items' },
);

/** The models of a peer that uses mongoose. */
// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- inferred, as in libs/database
export function createModels(connection: Connection) {
  return {
    items: connection.model('Item', itemSchema),
    favourites: connection.model(
      'Favourite',
      new Schema<Favourite>({ userId: String, itemId: Schema.Types.ObjectId, createdAt: Date }, { autoIndex: false }),
      'favourites',
    ),
    counters: connection.model('Counter', new Schema<Counter>({ _id: String, value: Number }), 'counters'),
  };
}
export type Models = ReturnType<typeof createModels>;

interface Favourite {
  userId: string;
  itemId: Types.ObjectId;
  createdAt: Date;
}

export interface Counter {
  _id: string;
  value: number;
}
