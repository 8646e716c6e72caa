// What a team writes first: a Nest app that stores each item with mongoose while it handles the request.
import 'reflect-metadata';
import { CreateItemInputSchema, GetAllInputSchema, GetByIdInputSchema, type Item } from '@app/contracts';
import { Body, Controller, HttpCode, Inject, Injectable, Module, NotFoundException, Post } from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import mongoose from 'mongoose';
import { createZodDto, ZodValidationPipe } from 'nestjs-zod';
import { createModels, type Models } from './item-model.js';
import {
  RESPONSE_PROJECTION,
  COUNTER,
  WRITE_CONCERN,
  loadReferences,
  pageQuery,
  reportReady,
  settings,
  toItem,
  toRecord,
  type PageOptions,
  type References,
} from './items.js';

class CreateItemDto extends createZodDto(CreateItemInputSchema) {}
class GetAllDto extends createZodDto(GetAllInputSchema) {}
class GetByIdDto extends createZodDto(GetByIdInputSchema) {}

const NEWEST_FIRST = { createdAt: -1, itemId: -1 } as const;
const MODELS = Symbol('Models');
const REFERENCES = Symbol('References');

@Injectable()
class ItemsService {
  constructor(
    @Inject(MODELS) private readonly models: Models,
    @Inject(REFERENCES) private readonly references: References,
  ) {}

  async create(input: CreateItemDto): Promise<Item> {
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

  async getAll(input: GetAllDto): Promise<Item[]> {
    const { filter, options } = pageQuery(input);
    if (input.userId !== undefined) return this.getFavourites(input.userId, filter, options);
    const items = await this.models.items.find(filter, RESPONSE_PROJECTION, options).lean();
    return items.map(toItem);
  }

  /** Reads the ids first, then those that match, then the page. */
  private async getFavourites(userId: string, filter: object, { skip, limit }: PageOptions): Promise<Item[]> {
    const favourites = await this.models.favourites
      .find({ userId }, { itemId: 1 })
      .sort(NEWEST_FIRST)
      .limit(5000)
      .lean();
    const ids = favourites.map(({ itemId }) => itemId);
    const matching = await this.models.items.find({ ...filter, _id: { $in: ids } }, { _id: 1 }).lean();
    const listed = new Set(matching.map(({ _id }) => String(_id)));
    const page = ids.filter((id) => listed.has(String(id))).slice(skip, skip + limit);
    const items = await this.models.items.find({ _id: { $in: page } }, RESPONSE_PROJECTION).lean();
    const byId = new Map(items.map((item) => [String(item._id), toItem(item)]));
    return page.flatMap((id) => byId.get(String(id)) ?? []);
  }
}

@Controller('api/orpc/items')
class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Post('create')
  @HttpCode(200)
  create(@Body() input: CreateItemDto): Promise<Item> {
    return this.items.create(input);
  }

  @Post('getById')
  @HttpCode(200)
  getById(@Body() { id }: GetByIdDto): Promise<Item> {
    return this.items.getById(id);
  }

  @Post('getAll')
  @HttpCode(200)
  getAll(@Body() input: GetAllDto): Promise<Item[]> {
    return this.items.getAll(input);
  }
}

async function start(): Promise<void> {
  const connection = await mongoose.createConnection(settings.mongodbUri, WRITE_CONCERN).asPromise();
  const models = createModels(connection);
  const references = await loadReferences(models.items.db.getClient().db());

  @Module({
    controllers: [ItemsController],
    providers: [
      ItemsService,
      { provide: MODELS, useValue: models },
      { provide: REFERENCES, useValue: references },
      { provide: APP_PIPE, useClass: ZodValidationPipe },
    ],
  })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(settings.port, '127.0.0.1');
  reportReady();
}

void start();
