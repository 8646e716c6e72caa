import { ITEM_FIELDS, type FieldKind } from '@app/contracts';
import type { ItemRecord } from '@app/database';
import { Schema, type Connection, type SchemaDefinition, type Types } from 'mongoose';

const TYPES: Record<FieldKind, SchemaDefinition[string]> = {
  string: String,
  number: Number,
  integer: Number,
  boolean: Boolean,
  time: Date,
  strings: [String],
  values: [Schema.Types.Mixed],
};

/** The same schema as one that declares each field by hand. */
const itemSchema = new Schema<ItemRecord>(
  {
    ...Object.fromEntries(
      ITEM_FIELDS.filter(({ name }) => name !== 'id').map(({ name, kind, isNullable }) => {
        const isList = kind === 'strings' || kind === 'values';
        return [name, { type: TYPES[kind], required: !isNullable && !isList }];
      }),
    ),
    requestHash: String,
    searchTerms: [String],
    searchVersion: Number,
  },
  { versionKey: false, autoIndex: false, collection: 'items' },
);

/** The models of a peer that uses mongoose. */
// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- inferred, as in libs/database
export function createModels(connection: Connection) {
  return {
    items: connection.model('Item', itemSchema),
    favourites: connection.model(
      'Favourite',
      new Schema<Favourite>({ userId: String, itemId: Schema.Types.ObjectId, createdAt: Date }, { autoIndex: false }),
      'favourites',
    ),
    counters: connection.model('Counter', new Schema<Counter>({ _id: String, value: Number }), 'counters'),
  };
}
export type Models = ReturnType<typeof createModels>;

interface Favourite {
  userId: string;
  itemId: Types.ObjectId;
  createdAt: Date;
}

export interface Counter {
  _id: string;
  value: number;
}
