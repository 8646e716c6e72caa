import { setImmediate as nextTurn } from 'node:timers/promises';
import { ITEM_FIELDS, type FieldKind, type ItemField } from '@app/contracts';
import { mongo } from 'mongoose';
import { BSON, eachElement, UnexpectedBson, NULL, numberAt, timeAt, writeValue } from './bson-json.js';
import { JsonWriter } from './json-writer.js';
import { MalformedItem, toItemWithoutUrl } from './plain-item.js';
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

const { string, boolean, date, array, objectId, int32, int64, double } = BSON;
const NUMBER = [int32, int64, double];

/** The BSON types that the service itself writes. An item with any other type takes the slower path of `plain-item`. */
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
  /** The name under which it is stored. */
  storedName: Buffer;
  /** `"name":` */
  key: Buffer;
  /** A bit mask of the BSON types that it may have. */
  types: number;
}

/** In the order in which the service itself stores them. */
const FIELDS: readonly Field[] = ITEM_FIELDS.map((field, index) => {
  const isId = field.name === 'id';
  const types = isId ? [objectId] : [...TYPES[field.kind], ...(field.isNullable ? [BSON.null] : [])];
  return {
    ...field,
    index,
    storedName: Buffer.from(storedName(field)),
    key: Buffer.from(`"${field.name}":`),
    types: types.reduce((mask, type) => mask | (1 << type), 0),
  };
});
const BY_STORED_NAME = new Map(FIELDS.map((field) => [field.storedName.toString(), field]));
const NULLABLE = FIELDS.filter(({ isNullable }) => isNullable);
const PATH = BY_STORED_NAME.get('path');
const IS_BOOSTED = BY_STORED_NAME.get('isBoosted');
const BOOST_EXPIRES_AT = BY_STORED_NAME.get('boostExpiresAt');
const URL_KEY = Buffer.from('"url":');
const [OPEN, CLOSE, COMMA, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x2c, 0x5b, 0x5d];
/** The offset of `_id`, which MongoDB stores first: after the length of the document, the type and the name. */
const ID_AT = 4 + 1 + '_id\0'.length;
/** Bytes for the names, quotes and commas of an item, and its `url`. */
const OVERHEAD = 700;
/** How many bytes are serialized before other work runs: 2 to 3 ms if they are numbers, which take the longest. */
const BYTES_PER_TURN = 256 * 1024;

/**
 * Serializes a list of items as JSON in UTF-8. Other work runs in between if the items are large.
 *
 * @param onMalformed is called for each document that is not a valid Item; the list omits these
 */
export async function itemsJson(
  items: readonly RawItem[],
  view: ItemView,
  onMalformed: (error: MalformedItem) => void,
): Promise<Buffer> {
  const writer = new JsonWriter(items.reduce((size, { length }) => size + length + OVERHEAD, 2));
  writer.byte(OPEN_LIST);
  let turnBytes = 0;
  for (const item of items) {
    if (turnBytes > BYTES_PER_TURN) {
      turnBytes = 0;
      await nextTurn();
    }
    turnBytes += item.length;
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
 * Serializes an item as JSON in UTF-8.
 *
 * @throws {@link MalformedItem}
 */
export function itemJson(item: RawItem, view: ItemView): Buffer {
  const writer = new JsonWriter(item.length + OVERHEAD);
  writeItem(writer, item, view);
  return writer.toBytes();
}

/** Returns the document of an item. Replaces invalid UTF-8 with U+FFFD. */
export function deserialize(item: RawItem): mongo.Document {
  return mongo.BSON.deserialize(item, { validation: { utf8: false } });
}

/** Returns the id of an item as hexadecimal digits. */
export function idOf(item: RawItem): string {
  return asBuffer(item).toString('hex', ID_AT, ID_AT + 12);
}

function asBuffer({ buffer, byteOffset, length }: RawItem): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}

/** Writes an item directly from BSON where possible, without creating objects first. */
function writeItem(writer: JsonWriter, item: RawItem, view: ItemView): void {
  const begin = writer.position;
  try {
    writePlainItem(writer, asBuffer(item), view);
    if (!writer.isUtf8Since(begin)) throw new UnexpectedBson();
  } catch (error) {
    if (!(error instanceof UnexpectedBson)) throw error;
    writer.rewind(begin);
    const { path, ...fields } = toItemWithoutUrl(deserialize(item), view.now);
    writer.bytes(Buffer.from(JSON.stringify({ ...fields, path, url: view.siteUrl + path })));
  }
}

/**
 * @throws {@link UnexpectedBson} if a field is missing or has a type that the service does not write, or if a boost has
 * lapsed
 */
function writePlainItem(writer: JsonWriter, source: Buffer, { now, siteUrl }: ItemView): void {
  const seen = new Uint8Array(FIELDS.length);
  let expected = 0;
  let path = '';
  const boost = { isActive: false, expiresAt: Infinity };
  writer.byte(OPEN);
  eachElement(source, 0, (type, nameStart, nameEnd, at) => {
    const field = fieldAt(source, nameStart, nameEnd, expected);
    if (field === undefined) return;
    expected = field.index + 1;
    if ((field.types & (1 << type)) === 0) throw new UnexpectedBson();
    seen[field.index] = 1;
    writer.bytes(field.key);
    if (type !== BSON.null) requireAllowed(field, source, type, at);
    writeValue(writer, source, type, at);
    writer.byte(COMMA);
    if (field === PATH) path = stringAt(source, at);
    if (field === IS_BOOSTED) boost.isActive = source[at] === 1;
    if (field === BOOST_EXPIRES_AT && type === date) boost.expiresAt = timeAt(source, at);
  });
  for (const { index, key } of NULLABLE) {
    if (seen[index] === 1) continue;
    seen[index] = 1;
    writer.bytes(key);
    writer.bytes(NULL);
    writer.byte(COMMA);
  }
  if (seen.includes(0) || (boost.isActive && boost.expiresAt <= now.getTime())) throw new UnexpectedBson();
  writer.bytes(URL_KEY);
  writer.bytes(Buffer.from(JSON.stringify(siteUrl + path)));
  writer.byte(CLOSE);
}

/**
 * Returns the field with the name from `start` to `end`. Fields usually come in order, and comparing bytes with the
 * expected name is faster than looking up a string.
 */
function fieldAt(source: Buffer, start: number, end: number, expected: number): Field | undefined {
  const field = FIELDS[expected];
  const isExpected = field !== undefined && isAt(source, start, end, field.storedName);
  return isExpected ? field : BY_STORED_NAME.get(source.toString('latin1', start, end));
}

function isAt(source: Buffer, start: number, end: number, name: Buffer): boolean {
  if (name.length !== end - start) return false;
  for (let index = 0; index < name.length; index++) if (source[start + index] !== name[index]) return false;
  return true;
}

/** @throws {@link UnexpectedBson} if the value has the right BSON type but is not allowed in the field */
function requireAllowed({ kind, values, minimum = -Infinity }: Field, source: Buffer, type: number, at: number): void {
  if (kind === 'number' || kind === 'integer') {
    const value = numberAt(source, type, at);
    const isAllowed = kind === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
    if (!isAllowed || value < minimum) throw new UnexpectedBson();
  }
  if (kind === 'strings') requireTexts(source, at);
  if (values?.includes(stringAt(source, at)) === false) throw new UnexpectedBson();
}

function stringAt(source: Buffer, at: number): string {
  return source.toString('utf8', at + 4, at + 3 + source.readInt32LE(at));
}

function requireTexts(source: Buffer, start: number): void {
  eachElement(source, start, (type) => {
    if (type !== string) throw new UnexpectedBson();
  });
}
