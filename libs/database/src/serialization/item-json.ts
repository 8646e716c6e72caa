import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ITEM_FIELDS, type ItemWithoutUrl } from '@app/contracts';
import { splitByBytes, TimeoutError, TtlCache } from '@app/runtime';
import { mongo } from 'mongoose';
import { BsonReader, UnexpectedBson } from './bson-reader.js';
import { lapseOf, MalformedItem, toItem, toItemWithoutUrl } from './plain-item.js';
import { storedName } from './projection.js';

/** An item in BSON, as MongoDB sends it. */
export type RawItem = Uint8Array;

/** What the JSON of an item depends on besides the stored document. */
export interface ItemView {
  /** The time at which boosts are evaluated. */
  now: Date;
  /** The part of `url` before the path. */
  siteUrl: string;
}

/** In the order in which the service itself stores them. */
const STORED_NAMES = ITEM_FIELDS.map(storedName);
/** The offset of `_id`, which MongoDB stores first: after the length of the document, the type and the name. */
const ID_AT = 4 + 1 + '_id\0'.length;
/** How many bytes are serialized before other work runs. Numbers take the longest. */
const BYTES_PER_TURN = 256 * 1024;
const [BEGIN, SEPARATOR, END] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
/** The JSON of an item is not cached if it and the BSON have more bytes together. */
const MAX_CACHED_BYTES = 8192;

/** The most JSON of one item: less than the API sends in one response, so that a page of one item is never too large. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;

/** The JSON of an item in UTF-8, and what it was made from. */
interface CachedJson {
  json: Uint8Array;
  stored: Uint8Array;
  siteUrl: string;
  /** When the boost of the item lapses, in ms since 1970. */
  until: number;
}

/** By id. Most requests are for the same pages. JSON is used only while the stored document is the same. */
const cache = new TtlCache<string, CachedJson>({ forMs: 3_600_000, count: 10_000 });

/**
 * Serializes a list of items as JSON in UTF-8. Other work runs in between if the items are large.
 *
 * @param deadline in ms of `performance.now()`
 * @param onMalformed is called for each document that is not a valid Item; the list omits these
 * @throws TimeoutError if the deadline passes before all large items are serialized
 */
export async function itemsJson(
  items: readonly RawItem[],
  view: ItemView,
  deadline: number,
  onMalformed: (error: MalformedItem) => void,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (const [turn, group] of splitByBytes(items, (item) => item.length, BYTES_PER_TURN).entries()) {
    if (turn > 0) {
      await nextTurn();
      if (performance.now() > deadline) throw new TimeoutError('not serialized in time');
    }
    for (const item of group) {
      try {
        const json = cachedJson(item, view);
        parts.push(parts.length === 0 ? BEGIN : SEPARATOR, json);
      } catch (error) {
        if (!(error instanceof MalformedItem)) throw error;
        onMalformed(error);
      }
    }
  }
  return Buffer.concat(parts.length === 0 ? [BEGIN, END] : [...parts, END]);
}

/**
 * Serializes an item as JSON in UTF-8.
 *
 * @throws {@link MalformedItem}
 */
export function itemJson(item: RawItem, view: ItemView): Buffer {
  return newJson(item, view).json;
}

/**
 * Returns the document of an item. Replaces invalid UTF-8 with U+FFFD.
 *
 * @throws {@link MalformedItem} if the driver cannot read it: MongoDB checks only the lengths of values
 */
export function deserialize(item: RawItem): mongo.Document {
  try {
    return mongo.BSON.deserialize(item, { bsonRegExp: true, validation: { utf8: false } });
  } catch {
    throw new MalformedItem(idOf(item), 'BSON');
  }
}

/** Returns the document of an item, or undefined if the driver cannot read it. */
export function deserializeIfReadable(item: RawItem): mongo.Document | undefined {
  try {
    return deserialize(item);
  } catch {
    return undefined;
  }
}

/**
 * Returns the values of some fields of an item; undefined for each that is missing, or if the driver cannot read the item.
 * Strings may be binary, see {@link BsonReader}.
 */
export function valuesOf(item: RawItem, names: readonly string[]): unknown[] {
  try {
    return new BsonReader(asBuffer(item)).values(names);
  } catch {
    const document = deserializeIfReadable(item) ?? {};
    return names.map((name): unknown => document[name]);
  }
}

/** Returns why an item is malformed, or undefined if it is not. */
export function malformedIn(item: RawItem, now: Date): MalformedItem | undefined {
  try {
    itemJson(item, { now, siteUrl: '' });
    return undefined;
  } catch (error) {
    if (error instanceof MalformedItem) return error;
    throw error;
  }
}

/** Returns the id of an item as hexadecimal digits. */
export function idOf(item: RawItem): string {
  return asBuffer(item).toString('hex', ID_AT, ID_AT + 12);
}

function asBuffer({ buffer, byteOffset, length }: RawItem): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Returns the JSON of an item in UTF-8, from the cache if it was made from the same document. */
function cachedJson(item: RawItem, { now, siteUrl }: ItemView): Uint8Array {
  const stored = asBuffer(item);
  const id = idOf(stored);
  const cached = cache.get(id);
  if (cached?.siteUrl === siteUrl && now.getTime() < cached.until && stored.equals(cached.stored)) return cached.json;
  const { json, until } = newJson(stored, { now, siteUrl });
  if (stored.length + json.length <= MAX_CACHED_BYTES) {
    // Copies, because these are parts of larger memory: MongoDB's whole response, and the pool of Buffer.
    cache.set(id, { json: new Uint8Array(json), stored: new Uint8Array(stored), until, siteUrl });
  }
  return json;
}

/** Returns the JSON of an item in UTF-8, and until when it is valid. */
function newJson(stored: RawItem, view: ItemView): { json: Buffer; until: number } {
  const result = serialize(stored, view);
  // A control character has one byte in BSON, and six in JSON.
  if (result.json.length > MAX_JSON_BYTES) throw new MalformedItem(idOf(stored), 'JSON: it is too large');
  return result;
}

function serialize(stored: RawItem, { now, siteUrl }: ItemView): { json: Buffer; until: number } {
  try {
    const item = toItem(new BsonReader(asBuffer(stored)).values(STORED_NAMES), now);
    return { json: toUtf8(jsonOf(item, toBinary(siteUrl))), until: lapseOf(item) };
  } catch (error) {
    // The id of a malformed item may be a text.
    if (!(error instanceof UnexpectedBson) && !(error instanceof MalformedItem)) throw error;
    const item = toItemWithoutUrl(deserialize(stored), now);
    return { json: Buffer.from(jsonOf(item, siteUrl)), until: lapseOf(item) };
  }
}

function jsonOf(item: ItemWithoutUrl, siteUrl: string): string {
  return `${JSON.stringify(item).slice(0, -1)},"url":${JSON.stringify(siteUrl + item.path)}}`;
}

function toBinary(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Returns the bytes of a binary string. MongoDB does not check texts, and decoding replaces what is not UTF-8. */
function toUtf8(binary: string): Buffer {
  const bytes = Buffer.from(binary, 'latin1');
  return isUtf8(bytes) ? bytes : Buffer.from(bytes.toString());
}
