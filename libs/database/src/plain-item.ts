import { ITEM_FIELDS, type FieldKind, type ItemField, type ItemWithoutUrl } from '@app/contracts';
import { mongo } from 'mongoose';

/** A stored document that cannot be an Item: another service has written it. */
export class MalformedItem extends Error {
  override readonly name = 'MalformedItem';

  constructor(
    readonly id: string,
    readonly field: string,
  ) {
    super(`item ${id} has no usable ${field}`);
  }
}

/**
 * Returns the Item that a stored document holds at a moment, without its URL. A boost that has ended is inactive, even
 * before the maintenance has cleared it. Numbers of every BSON type and dates of every sensible form are taken; a
 * nullable field may be missing.
 *
 * @throws {@link MalformedItem} when a field is missing, of another type, or not exact in JSON
 */
export function toItemWithoutUrl(document: object, now: Date): ItemWithoutUrl {
  const stored = document as Record<string, unknown>;
  const item: Record<string, unknown> = {};
  for (const field of ITEM_FIELDS) item[field.name] = fieldOf(stored, field);
  const { isBoosted, boostExpiresAt } = item as ItemWithoutUrl;
  if (isBoosted && boostExpiresAt !== null && Date.parse(boostExpiresAt) <= now.getTime())
    Object.assign(item, { isBoosted: false, boostScore: 0 });
  return item as ItemWithoutUrl;
}

/** Returns what `toItemWithoutUrl` does, or why it cannot. */
export function readItem(document: object, now: Date): ItemWithoutUrl | MalformedItem {
  try {
    return toItemWithoutUrl(document, now);
  } catch (error) {
    if (error instanceof MalformedItem) return error;
    throw error;
  }
}

function fieldOf(stored: Record<string, unknown>, { name, kind, isNullable, values, minimum }: ItemField): unknown {
  const { _id: id } = stored;
  if (!(id instanceof mongo.ObjectId)) throw new MalformedItem(String(id), 'id');
  if (name === 'id') return id.toHexString();
  const value = stored[name] ?? null;
  if (value === null && isNullable) return null;
  const converted = value === null ? undefined : CONVERSIONS[kind](value);
  const isTooSmall = typeof converted === 'number' && converted < (minimum ?? -Infinity);
  const isAllowed = values?.includes(converted as string) !== false && !isTooSmall;
  if (converted === undefined || !isAllowed) throw new MalformedItem(id.toHexString(), name);
  return converted;
}

/** How a BSON value becomes one of JSON; undefined when it cannot. */
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
  values: (value) => (Array.isArray(value) ? value.map(toJson) : undefined),
};

function toText(value: unknown): string | undefined {
  if (value instanceof mongo.ObjectId) return value.toHexString();
  return typeof value === 'string' ? value : undefined;
}

/** Returns a BSON number of any type as a number, or undefined when it is none, or not exact. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (!(value instanceof mongo.Long || value instanceof mongo.Decimal128)) return undefined;
  const decimal = canonical(value.toString());
  const number = Number(value.toString());
  return decimal !== undefined && decimal === canonical(String(number)) ? number : undefined;
}

/** The same text for equal decimal numbers: digits without zeros at either end, and a power of ten. */
function canonical(decimal: string): string | undefined {
  const [isNumber, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(decimal) ?? [];
  if (isNumber === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  const zeros = digits.length - significant.length;
  return significant === '' ? '0' : `${sign}${significant}e${String(Number(power) - fraction.length + zeros)}`;
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Takes dates, milliseconds since 1970, and ISO 8601 with a time zone, all of years 0 to 9999. */
function toTime(value: unknown): string | undefined {
  const isText = typeof value === 'string' && ISO_TIME.test(value);
  const date = value instanceof Date ? value : new Date((isText ? value : toNumber(value)) ?? NaN);
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return text.length === ISO_LENGTH ? text : undefined;
}

/** A value of any shape: a number that JSON does not hold exactly becomes a string. */
function toJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof mongo.Long || value instanceof mongo.Decimal128) return toNumber(value) ?? value.toString();
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toJson(member)]));
}
