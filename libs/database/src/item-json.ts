import { mongo } from 'mongoose';
import { BSON, eachElement, FALSE, NotPlain, NULL, safeInteger, TRUE, writeValue } from './bson-json.js';
import { toSitelessItem, type StoredItem } from './item-record.js';
import { JsonWriter } from './json-writer.js';

/** An item as MongoDB sends it: BSON, of the fields of a {@link StoredItem}. */
export type RawItem = Uint8Array;

/** What an answered item depends on besides what is stored. */
export interface ItemView {
  /** When boosts are looked at. */
  now: Date;
  /** What comes before the path in `url`. */
  siteUrl: string;
}

const { string, boolean, date, array, objectId } = BSON;
const NUMBER = [BSON.int32, BSON.double, BSON.int64];
const TEXT_OR_NULL = [string, BSON.null];

/** The types each field is stored in; an item with another one is left to the driver's reader. */
const TYPES: Record<keyof StoredItem, readonly number[]> = {
  _id: [objectId],
  publicId: NUMBER,
  name: [string],
  description: [string],
  price: NUMBER,
  status: [string],
  condition: TEXT_OR_NULL,
  stock: NUMBER,
  categoryId: NUMBER,
  sellerId: [string],
  brandId: [...NUMBER, BSON.null],
  conditionId: [...NUMBER, BSON.null],
  isFeatured: [boolean],
  slug: [string],
  imageUrl: [string],
  isVisible: [boolean],
  createdAt: [date],
  updatedAt: [date],
  deliveryOptions: [array],
  deliveryCost: NUMBER,
  freeShipping: [boolean],
  deliveryTimeEstimate: TEXT_OR_NULL,
  brandTitle: TEXT_OR_NULL,
  sizeTitle: TEXT_OR_NULL,
  discount: TEXT_OR_NULL,
  favouriteCount: NUMBER,
  viewCount: NUMBER,
  path: [string],
  visibilityType: [string],
  isBoosted: [boolean],
  boostScore: NUMBER,
  boostExpiresAt: [date, BSON.null],
  images: [array],
  photos: [array],
};

interface Field {
  index: number;
  /** `"name":` */
  key: Buffer;
  types: number;
}

const FIELDS = new Map(
  Object.entries(TYPES).map(([name, types], index): [string, Field] => {
    const key = Buffer.from(`"${name === '_id' ? 'id' : name}":`);
    return [name, { index, key, types: types.reduce((mask, type) => mask | (1 << type), 0) }];
  }),
);
const IS_BOOSTED = FIELDS.get('isBoosted');
const PATH = FIELDS.get('path');
/** Other services may unset these; all others must be there. */
const UNSETTABLE = ['deliveryTimeEstimate', 'brandTitle', 'sizeTitle', 'discount', 'boostExpiresAt'].flatMap(
  (name) => FIELDS.get(name) ?? [],
);
const URL_KEY = Buffer.from('"url":');
const [OPEN, CLOSE, COMMA, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x2c, 0x5b, 0x5d];
/** MongoDB keeps `_id` in front: after the length of the document, its type and its name. */
const ID_AT = 4 + 1 + '_id\0'.length;
/** Names, quotes and commas of an item, and its `url`. */
const OVERHEAD = 700;

/** The items in the form in which a list of them is answered: JSON, in UTF-8. */
export function itemsJson(items: readonly RawItem[], view: ItemView): Buffer {
  const writer = new JsonWriter(items.reduce((size, { length }) => size + length + OVERHEAD, 2));
  writer.byte(OPEN_LIST);
  items.forEach((item, index) => {
    if (index > 0) writer.byte(COMMA);
    writeItem(writer, item, view);
  });
  writer.byte(CLOSE_LIST);
  return writer.toBytes();
}

/** An item in the form in which it is answered: JSON, in UTF-8. */
export function itemJson(item: RawItem, view: ItemView): Buffer {
  const writer = new JsonWriter(item.length + OVERHEAD);
  writeItem(writer, item, view);
  return writer.toBytes();
}

/** The id of an item, in hexadecimal digits. */
export function idOf(item: RawItem): string {
  return asBuffer(item).toString('hex', ID_AT, ID_AT + 12);
}

function asBuffer({ buffer, byteOffset, length }: RawItem): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Straight from BSON: what is read is not made into objects first, which takes two thirds of the time of a page. */
function writeItem(writer: JsonWriter, item: RawItem, view: ItemView): void {
  const begin = writer.position;
  try {
    writePlainItem(writer, asBuffer(item), view);
  } catch (error) {
    if (!(error instanceof NotPlain)) throw error;
    writer.rewind(begin);
    const sitelessItem = toSitelessItem(mongo.BSON.deserialize(item) as StoredItem, view.now);
    writer.bytes(Buffer.from(JSON.stringify({ ...sitelessItem, url: view.siteUrl + sitelessItem.path })));
  }
}

/** @throws {@link NotPlain} when a field is not there, or of an unexpected type */
function writePlainItem(writer: JsonWriter, source: Buffer, { now, siteUrl }: ItemView): void {
  writer.byte(OPEN);
  const { seen, path } = writeStoredFields(writer, source, now);
  for (const { index, key } of UNSETTABLE) {
    if (seen[index] === 1) continue;
    seen[index] = 1;
    writer.bytes(key);
    writer.bytes(NULL);
    writer.byte(COMMA);
  }
  if (seen.includes(0)) throw new NotPlain();
  writer.bytes(URL_KEY);
  writer.bytes(Buffer.from(JSON.stringify(siteUrl + path)));
  writer.byte(CLOSE);
}

/** Each with a comma behind it; answers which there were, and the path. */
function writeStoredFields(writer: JsonWriter, source: Buffer, now: Date): { seen: Uint8Array; path: string } {
  const seen = new Uint8Array(FIELDS.size);
  let path = '';
  eachElement(source, 0, (type, nameStart, nameEnd, at) => {
    const field = FIELDS.get(source.toString('latin1', nameStart, nameEnd));
    if (field === undefined) return;
    if ((field.types & (1 << type)) === 0) throw new NotPlain();
    seen[field.index] = 1;
    writer.bytes(field.key);
    if (field === IS_BOOSTED) writer.bytes(source[at] === 1 && lasts(source, now) ? TRUE : FALSE);
    else writeValue(writer, source, type, at);
    writer.byte(COMMA);
    if (field === PATH) path = source.toString('utf8', at + 4, at + 3 + source.readInt32LE(at));
  });
  return { seen, path };
}

/** Whether the end of a boost is absent or still to come. */
function lasts(source: Buffer, now: Date): boolean {
  let expiresAt = Infinity;
  eachElement(source, 0, (type, nameStart, nameEnd, at) => {
    if (type === date && source.toString('latin1', nameStart, nameEnd) === 'boostExpiresAt')
      expiresAt = safeInteger(source, at);
  });
  return expiresAt > now.getTime();
}
