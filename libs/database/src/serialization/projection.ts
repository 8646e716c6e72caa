import { ITEM_FIELDS, type ItemField } from '@app/contracts';

/** Returns the name under which a field is stored. */
export function storedName({ name }: ItemField): string {
  return name === 'id' ? '_id' : name;
}

const PROJECTION = Object.fromEntries(ITEM_FIELDS.map((field) => [storedName(field), 1] as const));

/** Selects the fields that the API returns. */
export const ITEMS = { projection: PROJECTION } as const;
