import type { JsonWriter } from './json-writer.js';

/** The BSON types that have a JSON form (https://bsonspec.org/spec.html). */
export const BSON = {
  double: 0x01,
  string: 0x02,
  document: 0x03,
  array: 0x04,
  objectId: 0x07,
  boolean: 0x08,
  date: 0x09,
  null: 0x0a,
  int32: 0x10,
  int64: 0x12,
} as const;

/** A value is missing or has no single JSON form, so the caller has to convert the document in another way. */
export class UnexpectedBson extends Error {}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
export const NULL = Buffer.from('null');
/** The years 0 to 9999, which `toISOString` writes with four digits. */
const [FIRST_TIME, LAST_TIME] = ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'].map((time) =>
  Date.parse(time),
) as [number, number];
const [COMMA, COLON] = [0x2c, 0x3a];
const BRACES = { [BSON.document]: [0x7b, 0x7d], [BSON.array]: [0x5b, 0x5d] } as const;

/**
 * Calls `visit` for each element of a document with its type, where its name starts and ends, and where its value
 * starts.
 *
 * @throws {@link UnexpectedBson} if the type of a value is not one of {@link BSON}
 */
export function eachElement(
  source: Buffer,
  start: number,
  visit: (type: number, nameStart: number, nameEnd: number, at: number) => void,
): void {
  const end = start + source.readInt32LE(start) - 1;
  let at = start + 4;
  while (at < end) {
    const type = source[at] ?? 0;
    const nameStart = at + 1;
    let nameEnd = nameStart;
    while (nameEnd < end && source[nameEnd] !== 0) nameEnd++;
    at = nameEnd + 1;
    visit(type, nameStart, nameEnd, at);
    at += sizeOf(source, type, at);
  }
}

/** @throws {@link UnexpectedBson} */
export function writeValue(writer: JsonWriter, source: Buffer, type: number, at: number): void {
  switch (type) {
    case BSON.string:
      writer.string(source, at + 4, at + 3 + source.readInt32LE(at));
      break;
    case BSON.int32:
    case BSON.double:
    case BSON.int64:
      writer.number(numberAt(source, type, at));
      break;
    case BSON.boolean:
      writer.bytes(source[at] === 0 ? FALSE : TRUE);
      break;
    case BSON.null:
      writer.bytes(NULL);
      break;
    case BSON.date:
      writer.plainString(new Date(timeAt(source, at)).toISOString());
      break;
    case BSON.objectId:
      writer.plainString(source.toString('hex', at, at + 12));
      break;
    case BSON.document:
    case BSON.array:
      writeMembers(writer, source, type, at);
      break;
  }
}

/** @throws {@link UnexpectedBson} */
export function numberAt(source: Buffer, type: number, at: number): number {
  if (type === BSON.int32) return source.readInt32LE(at);
  return type === BSON.double ? source.readDoubleLE(at) : safeInteger(source, at);
}

/** @throws {@link UnexpectedBson} outside the years 0 to 9999 */
export function timeAt(source: Buffer, at: number): number {
  const time = safeInteger(source, at);
  if (time < FIRST_TIME || time > LAST_TIME) throw new UnexpectedBson();
  return time;
}

/** @throws {@link UnexpectedBson} if a JavaScript number cannot hold the value exactly */
function safeInteger(source: Buffer, at: number): number {
  const value = Number(source.readBigInt64LE(at));
  if (!Number.isSafeInteger(value)) throw new UnexpectedBson();
  return value;
}

function writeMembers(writer: JsonWriter, source: Buffer, type: 0x03 | 0x04, start: number): void {
  const [open, close] = BRACES[type];
  let isFirst = true;
  writer.byte(open);
  eachElement(source, start, (memberType, nameStart, nameEnd, at) => {
    if (!isFirst) writer.byte(COMMA);
    isFirst = false;
    if (type === BSON.document) {
      writer.string(source, nameStart, nameEnd);
      writer.byte(COLON);
    }
    writeValue(writer, source, memberType, at);
  });
  writer.byte(close);
}

function sizeOf(source: Buffer, type: number, at: number): number {
  switch (type) {
    case BSON.string:
      return 4 + source.readInt32LE(at);
    case BSON.document:
    case BSON.array:
      return source.readInt32LE(at);
    case BSON.objectId:
      return 12;
    case BSON.boolean:
      return 1;
    case BSON.null:
      return 0;
    case BSON.int32:
      return 4;
    case BSON.double:
    case BSON.date:
    case BSON.int64:
      return 8;
    default:
      throw new UnexpectedBson();
  }
}
