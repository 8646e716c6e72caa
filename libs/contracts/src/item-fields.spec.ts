import { ITEM_FIELDS } from './item-fields.js';
import { ITEM_STATUSES, ItemSchema } from './item.js';

describe('ITEM_FIELDS', () => {
  const byName = new Map(ITEM_FIELDS.map(({ name, ...field }) => [name, field]));

  it('ITEM_FIELDS contains the fields of the item schema in their order, without the URL', () => {
    expect([...byName.keys()]).toEqual(Object.keys(ItemSchema.shape).filter((name) => name !== 'url'));
  });

  it.each([
    ['name', { kind: 'string', isNullable: false }],
    ['publicId', { kind: 'integer', isNullable: false, minimum: 1 }],
    ['price', { kind: 'number', isNullable: false }],
    ['stock', { kind: 'integer', isNullable: false }],
    ['brandId', { kind: 'number', isNullable: true }],
    ['brandTitle', { kind: 'string', isNullable: true }],
    ['isVisible', { kind: 'boolean', isNullable: false }],
    ['createdAt', { kind: 'time', isNullable: false }],
    ['boostExpiresAt', { kind: 'time', isNullable: true }],
    ['deliveryOptions', { kind: 'strings', isNullable: false }],
    ['photos', { kind: 'values', isNullable: false }],
    ['status', { kind: 'string', isNullable: false, values: ITEM_STATUSES }],
  ] as const)('ITEM_FIELDS describes the values of %s', (name, field) => {
    expect(byName.get(name)).toEqual(field);
  });
});
