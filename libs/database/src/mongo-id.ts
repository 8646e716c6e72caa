import { Types } from 'mongoose';

/** The ObjectId of 24 hexadecimal digits. */
export function mongoId(hex: string): Types.ObjectId {
  return new Types.ObjectId(hex);
}

/** A new id, as 24 hexadecimal digits. */
export function newMongoId(): string {
  return new Types.ObjectId().toHexString();
}
