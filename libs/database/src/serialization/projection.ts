import { ITEM_FIELDS, type ItemField } from '@app/contracts';
import type { mongo } from 'mongoose';

/** Returns the name under which a field is stored. */
export function storedName({ name }: ItemField): string {
  return name === 'id' ? '_id' : name;
}

/**
 * Selects fields whose value is a string or null, and omits other values. Another service may have stored binary data that
 * the driver cannot read: everything that is read with it would fail.
 */
export function stringsOnly(...fields: readonly string[]): mongo.Document {
  const isString = (path: string) => ({ $in: [{ $type: path }, ['string', 'null']] });
  const stringOf = (path: string) => ({ $cond: [isString(path), path, '$$REMOVE'] });
  return Object.fromEntries(fields.map((field) => [field, stringOf(`$${field}`)]));
}

/** Selects the fields that the API returns. */
export const ITEMS = { projection: Object.fromEntries(ITEM_FIELDS.map((field) => [storedName(field), 1])) };
