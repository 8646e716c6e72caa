import { Schema, type Connection, type InferSchemaType } from 'mongoose';
import type { ItemRecord } from './item-record.js';

/** An API key. Only this service writes these records. */
export interface ApiKeyRecord {
  /** SHA-256 of the key, in hexadecimal. */
  _id: string;
  /** The seller to whom it belongs. */
  owner: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

/**
 * The order of every list: boosted items first, by score, then the newest. `publicId` is unique, which makes the order
 * total.
 */
export const LIST_ORDER = { isBoosted: -1, boostScore: -1, createdAt: -1, publicId: -1 } as const;

/**
 * The indexes that lists are read from. They contain visible items only, but include `isVisible` so that MongoDB can
 * count and skip by keys alone. Otherwise it would check the partial filter on each document. The search index does not
 * include the status, because a status change would then rewrite every key of the item.
 */
export const LIST_INDEXES = {
  all: { isVisible: 1, ...LIST_ORDER },
  status: { isVisible: 1, status: 1, ...LIST_ORDER },
  category: { categoryId: 1, isVisible: 1, status: 1, ...LIST_ORDER },
  search: { searchTerms: 1, isVisible: 1, ...LIST_ORDER },
} as const;

/** Names of indexes that earlier versions created and that are no longer used. */
export const OBSOLETE_ITEM_INDEXES = [
  'slug_1',
  ...['status_1', 'categoryId_1_status_1', 'searchTerms_1', 'searchTerms_1_isVisible_1_status_1'].map(
    (start) => `${start}_isBoosted_-1_boostScore_-1_createdAt_-1_publicId_-1`,
  ),
];

const options = { versionKey: false, autoIndex: false, autoCreate: false, minimize: false } as const;
const required = true;

/** Has no fields, because `ItemSchema` declares them and the validator of the collection checks them. */
const itemSchema = new Schema<ItemRecord>({}, { ...options, strict: false });

itemSchema.index({ publicId: 1 }, { unique: true });
// Lists never show hidden items, so their indexes omit them: every key that a list reads is a result.
const shown = { partialFilterExpression: { isVisible: true } };
itemSchema.index(LIST_INDEXES.all, shown);
itemSchema.index(LIST_INDEXES.status, shown);
itemSchema.index(LIST_INDEXES.category, shown);
// A new item changes a page for each of its terms, and MongoDB writes whole pages. Their default size is 16 KB.
const smallPages = { storageEngine: { wiredTiger: { configString: 'leaf_page_max=4KB' } } };
itemSchema.index(LIST_INDEXES.search, { ...shown, ...smallPages });
// For the maintenance job: lapsed boosts, and items whose search terms are missing or out of date.
itemSchema.index({ boostExpiresAt: 1 }, { partialFilterExpression: { isBoosted: true } });
itemSchema.index({ searchVersion: 1, createdAt: 1 });

/** A user's favourite. Another service writes these records. */
const favouriteSchema = new Schema(
  {
    userId: { type: String, required },
    itemId: { type: Schema.Types.ObjectId, required },
    createdAt: { type: Date, required },
  },
  options,
);
favouriteSchema.index({ userId: 1, itemId: 1 }, { unique: true });
favouriteSchema.index({ userId: 1, createdAt: -1, itemId: -1 });
export type FavouriteRecord = InferSchemaType<typeof favouriteSchema>;

const number = { type: Number, required };
const text = { type: String, required };

const categorySchema = new Schema({ _id: number, slug: text, title: text }, options);
categorySchema.index({ slug: 1 }, { unique: true });
export type CategoryRecord = InferSchemaType<typeof categorySchema>;

/** A brand or a condition. */
const titleSchema = new Schema({ _id: number, title: text }, options);
export type TitleRecord = InferSchemaType<typeof titleSchema>;

const counterSchema = new Schema({ _id: text, value: number }, options);

const secretSchema = new Schema({ _id: text, value: text }, options);

const apiKeySchema = new Schema<ApiKeyRecord>(
  {
    _id: text,
    owner: text,
    scopes: { type: [String], required },
    createdAt: { type: Date, required },
    expiresAt: { type: Date, required },
    revokedAt: Date,
  },
  options,
);
apiKeySchema.index({ owner: 1 });

/** All collections of the service on one connection. */
export type Models = ReturnType<typeof createModels>;

// The return type is inferred, because the Model type of mongoose does not describe what `model()` returns.
// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types
export function createModels(connection: Connection) {
  return {
    items: connection.model('Item', itemSchema, 'items'),
    favourites: connection.model('Favourite', favouriteSchema, 'favourites'),
    categories: connection.model('Category', categorySchema, 'categories'),
    brands: connection.model('Brand', titleSchema, 'brands'),
    conditions: connection.model('Condition', titleSchema, 'conditions'),
    counters: connection.model('Counter', counterSchema, 'counters'),
    secrets: connection.model('Secret', secretSchema, 'secrets'),
    apiKeys: connection.model('ApiKey', apiKeySchema, 'apiKeys'),
  };
}
