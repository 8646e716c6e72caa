import { ITEM_FIELDS, type FieldKind } from '@app/contracts';
import type { ItemRecord } from '@app/database';
import { Schema, type Connection, type SchemaDefinition } from 'mongoose';

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
        return [name, { type: TYPES[kind], required: !isNullable }];
      }),
    ),
    requestHash: String,
    searchTerms: [String],
    searchVersion: Number,
  },
  { versionKey: false, autoIndex: false, collection: 'items' },
);

export interface Counter {
  _id: string;
  value: number;
}

const required = true;
const favouriteSchema = new Schema(
  { userId: String, itemId: { type: Schema.Types.ObjectId, required }, createdAt: Date },
  { autoIndex: false },
);
const counterSchema = new Schema<Counter>({ _id: String, value: Number });

// eslint-disable-next-line @typescript-eslint/explicit-module-boundary-types -- inferred, as in libs/database
export function createModels(connection: Connection) {
  return {
    items: connection.model('Item', itemSchema),
    favourites: connection.model('Favourite', favouriteSchema, 'favourites'),
    counters: connection.model('Counter', counterSchema, 'counters'),
  };
}
export type Models = ReturnType<typeof createModels>;
