import { createHash } from 'node:crypto';
import { mongo } from 'mongoose';
import { deserializeIfReadable } from '../serialization/item-json.js';

/** The positions in one kind of list. */
export interface PositionKind<Position> {
  name: string;
  /** Returns undefined if the fields of a document do not form a position. */
  toPosition: (document: mongo.Document) => Position | undefined;
}

/** The version of the cursor format. Cursors of other versions are rejected. */
const VERSION = 2;
const CHECKSUM_BYTES = 6;
const MAX_LENGTH = 200;

/** Returns a cursor: a checksum and the BSON of a position in base64url. Not signed: a position is no secret. */
export function encodeCursor<Position extends object>(kind: PositionKind<Position>, position: Position): string {
  const payload = mongo.BSON.serialize(position);
  return Buffer.concat([checksum(kind.name, payload), payload]).toString('base64url');
}

/** Returns the position of a cursor, or undefined if the text is not a cursor of this kind, exactly as it was sent. */
export function decodeCursor<Position>(kind: PositionKind<Position>, cursor: string): Position | undefined {
  const bytes = Buffer.from(cursor.slice(0, MAX_LENGTH), 'base64url');
  const payload = bytes.subarray(CHECKSUM_BYTES);
  if (!checksum(kind.name, payload).equals(bytes.subarray(0, CHECKSUM_BYTES)) || bytes.toString('base64url') !== cursor)
    return undefined;
  // Anyone can compute a valid checksum. The driver checks all lengths in a document.
  const document = deserializeIfReadable(payload);
  return document && kind.toPosition(document);
}

/** Cursors of different versions and kinds of lists have different checksums. */
function checksum(name: string, payload: Uint8Array): Buffer {
  const hash = createHash('sha256')
    .update(`${String(VERSION)} ${name} `)
    .update(payload);
  return hash.digest().subarray(0, CHECKSUM_BYTES);
}
