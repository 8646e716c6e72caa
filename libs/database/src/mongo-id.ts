import { Types } from 'mongoose';

/** Converts 24 hexadecimal digits to an ObjectId. */
export function mongoId(hex: string): Types.ObjectId {
  return new Types.ObjectId(hex);
}

/** Returns a new id as 24 hexadecimal digits. */
export function newMongoId(): string {
  return new Types.ObjectId().toHexString();
}
