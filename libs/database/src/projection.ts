import { ITEM_FIELDS, type ItemField } from '@app/contracts';

/** Returns the name under which a field is stored. */
export function storedName({ name }: ItemField): string {
  return name === 'id' ? '_id' : name;
}

const ANSWERED = Object.fromEntries(ITEM_FIELDS.map((field) => [storedName(field), 1] as const));

/** Finds what is answered of an item. */
export const ITEMS = { projection: ANSWERED } as const;
/** Finds the same as BSON: objects are not needed. */
export const RAW_ITEMS = { ...ITEMS, raw: true } as const;
