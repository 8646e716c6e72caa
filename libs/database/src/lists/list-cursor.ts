import { createHash } from 'node:crypto';
import { ItemIdSchema } from '@app/contracts';
import { mongo } from 'mongoose';
import type { ListPosition, OrderedNumber } from './list-query.js';
import { mongoId } from '../mongo-id.js';

/** An item's position among a user's favourites. */
export interface FavouritePosition {
  itemId: mongo.ObjectId;
  createdAt: Date;
}

/** Converts the positions of one kind of list to the values of a cursor and back. */
export interface CursorKind<Position> {
  name: string;
  toValues: (position: Position) => unknown[];
  /** Returns undefined if the values do not form a position. */
  fromValues: (values: unknown[]) => Position | undefined;
}

/** Cursors of lists. */
export const LIST_CURSOR: CursorKind<ListPosition> = {
  name: 'list',
  toValues: ({ isBoosted, boostScore, createdAt, publicId }) => [
    isBoosted,
    encodeNumber(boostScore),
    encodeTime(createdAt),
    publicId,
  ],
  fromValues: ([isBoosted, score, time, publicId]) => {
    const [boostScore, createdAt] = [decodeNumber(score), decodeTime(time)];
    return typeof isBoosted === 'boolean' && boostScore !== undefined && createdAt !== undefined && isNumber(publicId)
      ? { isBoosted, boostScore, createdAt, publicId }
      : undefined;
  },
};

/** Cursors of favourites. */
export const FAVOURITES_CURSOR: CursorKind<FavouritePosition> = {
  name: 'favourites',
  toValues: ({ itemId, createdAt }) => [itemId.toHexString(), createdAt.getTime()],
  fromValues: ([itemId, createdAt]) =>
    ItemIdSchema.safeParse(itemId).success && isTime(createdAt)
      ? { itemId: mongoId(itemId as string), createdAt: new Date(createdAt) }
      : undefined,
};

/** The version of the cursor format. Cursors of other versions are rejected. */
const VERSION = 1;
const CHECKSUM_BYTES = 6;
const MAX_LENGTH = 200;

/** Returns a cursor: a position, its kind and a checksum in base64url. Not signed: a position is no secret. */
export function encodeCursor<Position>({ name, toValues }: CursorKind<Position>, position: Position): string {
  const payload = Buffer.from(JSON.stringify([VERSION, name, ...toValues(position)]));
  return Buffer.concat([checksum(payload), payload]).toString('base64url');
}

/** Returns the position of a cursor, or undefined if the text is not a cursor of this kind, exactly as it was sent. */
export function decodeCursor<Position>(kind: CursorKind<Position>, cursor: string): Position | undefined {
  const bytes = Buffer.from(cursor.slice(0, MAX_LENGTH), 'base64url');
  const payload = bytes.subarray(CHECKSUM_BYTES);
  if (!checksum(payload).equals(bytes.subarray(0, CHECKSUM_BYTES)) || bytes.toString('base64url') !== cursor)
    return undefined;
  const [version, name, ...values] = parse(payload);
  return version === VERSION && name === kind.name ? kind.fromValues(values) : undefined;
}

/** Returns no values for invalid JSON, because anyone can compute a valid checksum. */
function parse(payload: Buffer): unknown[] {
  try {
    return [JSON.parse(payload.toString())].flat() as unknown[];
  } catch {
    return [];
  }
}

/** Converts a Date to milliseconds, and a stored number to an array, to tell them apart. */
function encodeTime(time: ListPosition['createdAt']): unknown {
  if (time instanceof Date) return time.getTime();
  return typeof time === 'string' ? time : [encodeNumber(time)];
}

function decodeTime(value: unknown): ListPosition['createdAt'] | undefined {
  if (typeof value === 'string') return value;
  if (isTime(value)) return new Date(value);
  return Array.isArray(value) ? decodeNumber(value[0]) : undefined;
}

function encodeNumber(number: OrderedNumber): unknown {
  return typeof number === 'number' ? number : { decimal: number.toString() };
}

function decodeNumber(value: unknown): OrderedNumber | undefined {
  if (isNumber(value)) return value;
  const { decimal } = Object(value) as { decimal?: unknown };
  try {
    return mongo.Decimal128.fromString(decimal as string);
  } catch {
    return undefined;
  }
}

function checksum(payload: Buffer): Buffer {
  return createHash('sha256').update(payload).digest().subarray(0, CHECKSUM_BYTES);
}

function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** Returns whether a value is a time in milliseconds that a Date can hold. */
function isTime(value: unknown): value is number {
  return isNumber(value) && !Number.isNaN(new Date(value).getTime());
}
