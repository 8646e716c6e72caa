import { ITEM_FIELDS } from '@app/contracts';

const ANSWERED = Object.fromEntries(ITEM_FIELDS.map(({ name }) => [name === 'id' ? '_id' : name, 1] as const));

/** Finds what is answered of an item. */
export const ITEMS = { projection: ANSWERED } as const;
/** Finds the same as BSON: objects are not needed. */
export const RAW_ITEMS = { ...ITEMS, raw: true } as const;
