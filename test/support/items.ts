import { randomBytes } from 'node:crypto';
import { newMongoId, type Database, type ItemFilter, type ItemRecord, type RawItem } from '@app/database';
import { newItemRecord, SEARCH_VERSION, searchFields } from '@app/items';
import { mongo } from 'mongoose';

/** An input of getAll whose list is empty without a query, because no category has so long a slug. */
export const EMPTY_LIST = { categoryId: 'x'.repeat(1001) };

/** Returns a valid input of create. */
export function validInput(changes: object = {}): Record<string, unknown> {
  return {
    name: 'Red city bike',
    description: 'Three gears, new tyres, used for two summers.',
    price: 149.5,
    categoryId: '7',
    stock: 1,
    brandId: null,
    conditionId: null,
    isFeatured: null,
    images: ['https://images.example.com/bike.jpg'],
    ...changes,
  };
}

/** Returns a word that no other test uses. */
export function uniqueWord(): string {
  return `w${randomBytes(8).toString('hex')}`;
}

let nextPublicId = 1_000_000;

/** Returns a complete record of an item, for storing it as another service would. */
export function record(changes: Partial<ItemRecord> = {}): ItemRecord {
  const item = {
    name: changes.name ?? 'Red city bike',
    description: changes.description ?? 'Three gears, new tyres.',
    price: 149.5,
    categoryId: 7,
    stock: 1,
    brandId: null,
    conditionId: null,
    isFeatured: null,
    images: ['https://images.example.com/bike.jpg'],
  };
  const request = { id: newMongoId(), sellerId: 'seller', requestHash: 'hash', item };
  const { brandTitle = null } = changes;
  const created = newItemRecord(request, { publicId: nextPublicId++, brandTitle, condition: null, now: new Date() });
  // Large texts take long to derive terms from.
  const search = changes.searchTerms === undefined ? searchFields(created) : { searchVersion: SEARCH_VERSION };
  return { ...created, ...search, ...changes };
}

/** Returns the record of an item in BSON, as MongoDB sends it. */
export function rawItem(changes: Partial<ItemRecord> = {}): RawItem {
  return mongo.BSON.serialize(record(changes));
}

/** Compares two items by the order of lists. */
export function inListOrder(a: ItemRecord, b: ItemRecord): number {
  return (
    Number(b.isBoosted) - Number(a.isBoosted) ||
    b.boostScore - a.boostScore ||
    b.createdAt.getTime() - a.createdAt.getTime() ||
    b.publicId - a.publicId
  );
}

/** Returns whether a list with this filter contains the item. */
export function isListed({ status, categoryId, terms = [] }: ItemFilter, item: ItemRecord): boolean {
  return (
    item.isVisible &&
    [undefined, item.status].includes(status) &&
    [undefined, item.categoryId].includes(categoryId) &&
    terms.every((term) => item.searchTerms?.includes(term))
  );
}

/** Stores items without the service, and returns them. */
export async function store<Records extends ItemRecord[]>(database: Database, ...records: Records): Promise<Records> {
  await database.models.items.collection.insertMany(records);
  return records;
}

/** Stores favourites as another service does. The first is the oldest; `since` is its time in ms. */
export async function addFavourites(
  database: Database,
  userId: string,
  records: ItemRecord[],
  since = 0,
): Promise<void> {
  await database.models.favourites.collection.insertMany(
    records.map(({ _id }, index) => ({ userId, itemId: _id, createdAt: new Date(since + index * 1000) })),
  );
}
