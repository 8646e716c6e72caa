import type { CreateItemInput, GetAllInput, Item } from '@app/contracts';
import { NotFoundException } from '@nestjs/common';
import mongoose from 'mongoose';
import { createModels, type Models } from './item-model.js';
import {
  COUNTER,
  loadReferences,
  pageQuery,
  RESPONSE_PROJECTION,
  settings,
  toItem,
  toRecord,
  WRITE_CONCERN,
  type References,
} from './items.js';

const NEWEST_FIRST = { createdAt: -1, itemId: -1 } as const;

/** Items as a team stores and reads them with mongoose. */
export class ItemsService {
  constructor(
    private readonly models: Models,
    private readonly references: References,
  ) {}

  static async connect(): Promise<ItemsService> {
    const connection = await mongoose.createConnection(settings.mongodbUri, WRITE_CONCERN).asPromise();
    return new ItemsService(createModels(connection), await loadReferences(connection.getClient().db()));
  }

  async create(input: CreateItemInput): Promise<Item> {
    const counter = await this.models.counters
      .findOneAndUpdate({ _id: COUNTER }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' })
      .orFail()
      .lean();
    const item = await this.models.items.create(toRecord(input, counter.value, this.references));
    return toItem(item.toObject());
  }

  async getById(id: string): Promise<Item> {
    const item = await this.models.items.findById(id, RESPONSE_PROJECTION).lean();
    if (item === null) throw new NotFoundException();
    return toItem(item);
  }

  async getAll(input: GetAllInput): Promise<Item[]> {
    if (input.userId !== undefined) return this.getFavourites(input.userId, input);
    const { filter, options } = pageQuery(input);
    const items = await this.models.items.find(filter, RESPONSE_PROJECTION, options).lean();
    return items.map(toItem);
  }

  /** Reads the ids first, then those that match, then the page. */
  private async getFavourites(userId: string, input: GetAllInput): Promise<Item[]> {
    const { filter, options } = pageQuery(input);
    const favourites = await this.models.favourites
      .find({ userId }, { itemId: 1 })
      .sort(NEWEST_FIRST)
      .limit(5000)
      .lean();
    const ids = favourites.map(({ itemId }) => itemId);
    const matching = await this.models.items.find({ ...filter, _id: { $in: ids } }, { _id: 1 }).lean();
    const listed = new Set(matching.map(({ _id }) => String(_id)));
    const page = ids.filter((id) => listed.has(String(id))).slice(options.skip, options.skip + options.limit);
    const items = await this.models.items.find({ _id: { $in: page } }, RESPONSE_PROJECTION).lean();
    const byId = new Map(items.map((item) => [String(item._id), toItem(item)]));
    return page.flatMap((id) => byId.get(String(id)) ?? []);
  }
}
