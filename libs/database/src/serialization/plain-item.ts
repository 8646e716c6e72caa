import { ITEM_FIELDS, type FieldKind, type ItemWithoutUrl } from '@app/contracts';
import { mongo } from 'mongoose';
import { MAX_CONVERTED } from './bson-reader.js';
import { storedName } from './projection.js';

const { Code, DBRef, Decimal128, Long, ObjectId, Timestamp } = mongo;

/** A stored document is not a valid Item, because another service has written it. */
export class MalformedItem extends Error {
  override readonly name = 'MalformedItem';

  constructor(
    readonly id: string,
    readonly field: string,
  ) {
    super(`item ${id} has no usable ${field}`);
  }
}

/** Converts a BSON value to a JSON value, or to undefined if it has no such form. */
const CONVERSIONS: Record<FieldKind, (value: unknown) => unknown> = {
  string: toText,
  number: toNumber,
  integer: (value) => {
    const number = toNumber(value);
    return Number.isSafeInteger(number) ? number : undefined;
  },
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  time: toTime,
  strings: (value) => {
    const texts = Array.isArray(value) ? value.map(toText) : [undefined];
    return texts.includes(undefined) ? undefined : texts;
  },
  values: (value) => (Array.isArray(value) ? value : undefined),
};

/** All with the same properties, which makes reading them fast. */
const FIELDS = ITEM_FIELDS.map(({ name, kind, isNullable, minimum, values }) => ({
  name,
  isNullable,
  minimum,
  values,
  convert: CONVERSIONS[kind],
}));
/** How much of an id is logged. */
const SHOWN_LENGTH = 100;
/** Has all fields in order. Copies of it do not change their form while the fields are set. */
const EMPTY = Object.fromEntries(FIELDS.map(({ name }) => [name, undefined as unknown]));

/**
 * Converts a stored document to an Item without its URL, as of a given time. A lapsed boost is inactive even before the
 * maintenance job has cleared it. Accepts numbers of every BSON type, and dates as Date, milliseconds or ISO 8601. A
 * nullable field may be missing.
 *
 * @throws {@link MalformedItem} if a field is missing, has another type, or has no exact form in JSON
 */
export function toItemWithoutUrl(document: object, now: Date): ItemWithoutUrl {
  const stored = document as Record<string, unknown>;
  const values = ITEM_FIELDS.map((field) => {
    const value = stored[storedName(field)];
    if (field.kind !== 'values') return value;
    return countConverted(value) > MAX_CONVERTED ? undefined : toJson(value);
  });
  return toItem(values, now);
}

/** Does the same with the values of the fields, in the order of {@link ITEM_FIELDS}. `photos` must have a JSON form. */
export function toItem(values: readonly unknown[], now: Date): ItemWithoutUrl {
  const id = values[0];
  if (!(id instanceof ObjectId)) throw new MalformedItem(shown(id), 'id');
  const item = { ...EMPTY };
  FIELDS.forEach((field, index) => {
    const value = fieldOf(field, values[index]);
    if (value === undefined) throw new MalformedItem(id.toHexString(), field.name);
    item[field.name] = value;
  });
  if (lapseOf(item as ItemWithoutUrl) <= now.getTime()) Object.assign(item, { isBoosted: false, boostScore: 0 });
  return item as ItemWithoutUrl;
}

/** Returns when the boost of an item lapses, in ms since 1970. */
export function lapseOf({ isBoosted, boostExpiresAt }: ItemWithoutUrl): number {
  return isBoosted && boostExpiresAt !== null ? Date.parse(boostExpiresAt) : Infinity;
}

/** Returns the start of an id of another type, for the log. Objects may have no text. */
function shown(id: unknown): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id).slice(0, SHOWN_LENGTH) : 'unknown';
}

/** Returns the JSON value of a field, or undefined if it has none that is allowed. */
function fieldOf({ isNullable, convert, minimum, values }: (typeof FIELDS)[number], stored: unknown): unknown {
  if (stored === null || stored === undefined) return isNullable ? null : undefined;
  const value = convert(stored);
  if (minimum !== undefined && (value as number) < minimum) return undefined;
  return values === undefined || values.includes(value as string) ? value : undefined;
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return value instanceof ObjectId ? value.toHexString() : undefined;
}

/** Converts a BSON number of any type. Returns undefined if the value is not a number or cannot be held exactly. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  // A timestamp, which is a kind of Long, is not a number.
  if (!(value instanceof Long || value instanceof Decimal128) || value instanceof Timestamp) return undefined;
  const decimal = value.toString();
  const number = Number(decimal);
  return Number.isFinite(number) && canonical(decimal) === canonical(String(number)) ? number : undefined;
}

/** Returns the same text for equal decimal numbers: digits without leading or trailing zeros, and a power of ten. */
function canonical(decimal: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(decimal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const zeros = digits.length - significant.length;
  return significant === '' ? '0' : `${sign}${significant}e${String(Number(power) - fraction.length + zeros)}`;
}

/** ISO 8601 with a time zone, in seconds or fractions of at most nine digits. */
export const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Accepts dates, milliseconds since 1970, and ISO 8601 with a time zone, in the years 0 to 9999. */
function toTime(value: unknown): string | undefined {
  const isText = typeof value === 'string' && ISO_TIME.test(value);
  const date = value instanceof Date ? value : new Date((isText ? value : toNumber(value)) ?? NaN);
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return text.length === ISO_LENGTH ? text : undefined;
}

/** Returns how many values of types that JSON does not have are in a value of any shape. */
function countConverted(value: unknown): number {
  const container = containerOf(value);
  if (container === undefined) return typeof value === 'object' && value !== null ? 1 : 0;
  return Object.values(container).reduce<number>((count, member) => count + countConverted(member), 0);
}

/** Converts a value of any shape. A Long or Decimal128 that JSON cannot hold exactly becomes a string. */
function toJson(value: unknown): unknown {
  if (value instanceof Long || value instanceof Decimal128) return toNumber(value) ?? value.toString();
  const container = containerOf(value);
  if (container === undefined) return value;
  if (Array.isArray(container)) return container.map(toJson);
  return Object.fromEntries(Object.entries(container).map(([name, member]) => [name, toJson(member)]));
}

/** Returns the array or object that holds the members of a value, or undefined if it has none. */
function containerOf(value: unknown): object | undefined {
  if (value === null || typeof value !== 'object') return undefined;
  // The driver reads a document with the fields `$ref` and `$id` as a DBRef.
  if (value instanceof DBRef || value instanceof Code) return value.toJSON();
  return Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype ? value : undefined;
}
