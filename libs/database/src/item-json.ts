import { ITEM_FIELDS, type FieldKind, type ItemField } from '@app/contracts';
import { mongo } from 'mongoose';
import {
  BSON,
  eachElement,
  FALSE,
  NotPlain,
  NULL,
  numberAt,
  safeInteger,
  TRUE,
  writeValue,
  ZERO,
} from './bson-json.js';
import { JsonWriter } from './json-writer.js';
import { MalformedItem, toSitelessItem } from './plain-item.js';

/** An item as MongoDB sends it: BSON. */
export type RawItem = Uint8Array;

/** What an answered item depends on besides what is stored. */
export interface ItemView {
  /** When boosts are looked at. */
  now: Date;
  /** What comes before the path in `url`. */
  siteUrl: string;
}

const { string, boolean, date, array, objectId, int32, int64, double } = BSON;
const NUMBER = [int32, int64, double];

/** The BSON types that the service itself writes; an item with another one takes the slower way of `plain-item`. */
const TYPES: Record<FieldKind, readonly number[]> = {
  string: [string],
  number: NUMBER,
  integer: NUMBER,
  boolean: [boolean],
  time: [date],
  strings: [array],
  values: [array],
};

interface Field extends ItemField {
  index: number;
  /** `"name":` */
  key: Buffer;
  /** A bit for each BSON type that it may have. */
  types: number;
}

const FIELDS = new Map(
  ITEM_FIELDS.map((field, index): [string, Field] => {
    const key = Buffer.from(`"${field.name}":`);
    if (field.name === 'id') return ['_id', { ...field, index, key, types: 1 << objectId }];
    const types = [...TYPES[field.kind], ...(field.isNullable ? [BSON.null] : [])];
    return [field.name, { ...field, index, key, types: types.reduce((mask, type) => mask | (1 << type), 0) }];
  }),
);
const NULLABLE = [...FIELDS.values()].filter(({ isNullable }) => isNullable);
const PATH = FIELDS.get('path');
const IS_BOOSTED = FIELDS.get('isBoosted');
const BOOST_SCORE = FIELDS.get('boostScore');
const URL_KEY = Buffer.from('"url":');
const [OPEN, CLOSE, COMMA, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x2c, 0x5b, 0x5d];
/** MongoDB keeps `_id` in front: after the length of the document, its type and its name. */
const ID_AT = 4 + 1 + '_id\0'.length;
/** Bytes that are no UTF-8 become U+FFFD. */
const ANY_TEXT = { validation: { utf8: false } };
/** Names, quotes and commas of an item, and its `url`. */
const OVERHEAD = 700;

/**
 * Serializes a list of items: JSON in UTF-8.
 *
 * @param onMalformed is called for each document that cannot be an Item; the list leaves it out
 */
export function itemsJson(
  items: readonly RawItem[],
  view: ItemView,
  onMalformed: (error: MalformedItem) => void,
): Buffer {
  const writer = new JsonWriter(items.reduce((size, { length }) => size + length + OVERHEAD, 2));
  writer.byte(OPEN_LIST);
  for (const item of items) {
    const begin = writer.position;
    try {
      if (begin > 1) writer.byte(COMMA);
      writeItem(writer, item, view);
    } catch (error) {
      if (!(error instanceof MalformedItem)) throw error;
      writer.rewind(begin);
      onMalformed(error);
    }
  }
  writer.byte(CLOSE_LIST);
  return writer.toBytes();
}

/**
 * Serializes an item: JSON in UTF-8.
 *
 * @throws {@link MalformedItem}
 */
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

/** Writes straight from BSON where it can, without making objects first. */
function writeItem(writer: JsonWriter, item: RawItem, view: ItemView): void {
  const begin = writer.position;
  try {
    writePlainItem(writer, asBuffer(item), view);
    if (!writer.isUtf8Since(begin)) throw new NotPlain();
  } catch (error) {
    if (!(error instanceof NotPlain)) throw error;
    writer.rewind(begin);
    const { path, ...fields } = toSitelessItem(mongo.BSON.deserialize(item, ANY_TEXT), view.now);
    writer.bytes(Buffer.from(JSON.stringify({ ...fields, path, url: view.siteUrl + path })));
  }
}

/** @throws {@link NotPlain} when a field is missing, or of another type than the service itself writes */
function writePlainItem(writer: JsonWriter, source: Buffer, { now, siteUrl }: ItemView): void {
  const seen = new Uint8Array(FIELDS.size);
  let path = '';
  writer.byte(OPEN);
  eachElement(source, 0, (type, nameStart, nameEnd, at) => {
    const field = FIELDS.get(source.toString('latin1', nameStart, nameEnd));
    if (field === undefined) return;
    if ((field.types & (1 << type)) === 0) throw new NotPlain();
    seen[field.index] = 1;
    writer.bytes(field.key);
    writeField(writer, source, field, type, at, now);
    writer.byte(COMMA);
    if (field === PATH) path = stringAt(source, at);
  });
  for (const { index, key } of NULLABLE) {
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

function writeField(writer: JsonWriter, source: Buffer, field: Field, type: number, at: number, now: Date): void {
  if (type === BSON.null) writer.bytes(NULL);
  else if (field.kind === 'number' || field.kind === 'integer') {
    const value = numberAt(source, type, at);
    const isAllowed = field.kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (!isAllowed || value < (field.minimum ?? -Infinity)) throw new NotPlain();
    if (field === BOOST_SCORE && value !== 0 && hasLapsed(source, now)) writer.bytes(ZERO);
    else writer.number(value);
  } else {
    if (field.kind === 'strings') requireTexts(source, at);
    if (field.values?.includes(stringAt(source, at)) === false) throw new NotPlain();
    if (field === IS_BOOSTED && source[at] === 1) writer.bytes(hasLapsed(source, now) ? FALSE : TRUE);
    else writeValue(writer, source, type, at);
  }
}

function stringAt(source: Buffer, at: number): string {
  return source.toString('utf8', at + 4, at + 3 + source.readInt32LE(at));
}

function requireTexts(source: Buffer, start: number): void {
  eachElement(source, start, (type) => {
    if (type !== string) throw new NotPlain();
  });
}

/** Whether the item is boosted, until a time that has passed. */
function hasLapsed(source: Buffer, now: Date): boolean {
  let isBoosted = 0;
  let expiresAt = Infinity;
  eachElement(source, 0, (type, nameStart, nameEnd, at) => {
    const field = FIELDS.get(source.toString('latin1', nameStart, nameEnd));
    if (field === IS_BOOSTED) isBoosted = source[at] ?? 0;
    if (field?.name === 'boostExpiresAt' && type === date) expiresAt = safeInteger(source, at);
  });
  return isBoosted === 1 && expiresAt <= now.getTime();
}
