import type { Database } from './connection/database.js';
import type { ItemRecord } from './item-record.js';
import type { CategoryRecord, FavouriteRecord, TitleRecord } from './models.js';

/** All data of a marketplace. */
export interface Catalogue {
  categories: CategoryRecord[];
  brands: TitleRecord[];
  conditions: TitleRecord[];
  items: ItemRecord[];
  favourites: FavouriteRecord[];
}

/** Loads a catalogue as a whole. */
export class CatalogueRepository {
  constructor(private readonly database: Database) {}

  /** Returns whether there are no items yet, and nothing that they refer to. */
  async isEmpty(): Promise<boolean> {
    const { items, categories, brands, conditions } = this.database.models;
    const collections = [items, categories, brands, conditions].map((model) => model.collection);
    const counts = await Promise.all(collections.map((each) => each.countDocuments({}, { limit: 1 })));
    return counts.every((count) => count === 0);
  }

  /** Stores the whole catalogue or, if anything fails, nothing. */
  async load(catalogue: Catalogue): Promise<void> {
    const { models, connection } = this.database;
    await connection.transaction(async (session) => {
      await models.categories.insertMany(catalogue.categories, { session });
      await models.brands.insertMany(catalogue.brands, { session });
      await models.conditions.insertMany(catalogue.conditions, { session });
      await models.items.collection.insertMany(catalogue.items, { session });
      await models.favourites.collection.insertMany(catalogue.favourites, { session });
    });
  }
}
