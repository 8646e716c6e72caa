import { Inject, Injectable } from '@nestjs/common';
import {
  categoryNumber,
  DEFAULT_PAGE,
  DEFAULT_PAGE_SIZE,
  ItemIdSchema,
  type GetAllInput,
  type GetByIdInput,
  type Item,
} from '@app/contracts';
import {
  ItemRepository,
  newMongoId,
  ReferenceRepository,
  itemJson,
  itemsJson,
  SecretRepository,
  SharedReads,
  type ItemFilter,
  type ItemView,
  type RawItem,
  type Window,
} from '@app/database';
import { isSameRequest, itemIdOf, queryTerms, requestHash } from '@app/items';
import type { ApiConfig } from '@app/runtime';
import { API_CONFIG } from '../api-config.js';
import { Json } from '../orpc/json.js';
import { Refusal, type RefusalDetails } from '../orpc/refusal.js';
import { CreateItemGateway } from './create-item.gateway.js';
import type { ValidCreate } from './create-input.pipe.js';
import type { Preferences } from './prefer.js';

/** Until authentication exists every caller is the same one. */
const ANONYMOUS = 'anonymous';

/** Even a create that is not to be waited for gets so long to be queued. */
const QUEUE_WITHIN_MS = 200;

/** What a create brings along beside its input. */
export interface CreateCall {
  requestId: string;
  /** In ms of `performance.now()`: the wait for the item begins here. */
  arrivedAt: number;
  /** Idempotency-Key. */
  key: string | undefined;
  preferences: Preferences;
  /** Settles when the client has hung up. */
  gone: Promise<void>;
}

export type CreateAnswer = { kind: 'created'; item: Item; isReplay: boolean } | { kind: 'queued'; id: string };

@Injectable()
export class ItemsService {
  /** Many look at the same page at the same moment, most of all at the first. */
  private readonly pages = new SharedReads<Json>();

  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly gateway: CreateItemGateway,
    private readonly secrets: SecretRepository,
    @Inject(API_CONFIG) private readonly config: ApiConfig,
  ) {}

  /** One page of a list, or of a user's favourites, serialized. */
  getAll(input: GetAllInput): Promise<Json> {
    return this.pages.ask(
      JSON.stringify(input),
      async () => new Json(itemsJson(await this.findPage(input), this.view())),
    );
  }

  private async findPage(input: GetAllInput): Promise<RawItem[]> {
    const filter = await this.filterOf(input);
    if (filter === undefined) return [];
    const { userId } = input;
    return userId === undefined
      ? this.items.findPage(filter, await this.windowOf(input, (id) => this.items.findListPosition(id)))
      : this.items.findFavouritesPage(
          userId,
          filter,
          await this.windowOf(input, (id) => this.items.findFavouritePosition(userId, id)),
        );
  }

  /** @throws Refusal NOT_FOUND */
  async getById({ id }: GetByIdInput): Promise<Json> {
    const found = isItemId(id) ? await this.items.findById(id) : undefined;
    if (found === undefined) throw new Refusal('NOT_FOUND', { message: 'No such item' });
    return new Json(itemJson(found, this.view()));
  }

  /** Creates an item through the queue and answers it once it is stored, or once it is queued if that will do. */
  async create(
    { input, size, categoryId }: ValidCreate,
    { key, preferences, ...request }: CreateCall,
  ): Promise<CreateAnswer> {
    const id = key === undefined ? newMongoId() : await this.itemIdOf(key);
    const outcome = await this.gateway.create(
      {
        id,
        requestId: request.requestId,
        requestHash: requestHash(input),
        sellerId: ANONYMOUS,
        item: { ...input, categoryId },
      },
      {
        isKeyed: key !== undefined,
        size,
        isSame: (stored) => isSameRequest(stored, input),
        gone: request.gone,
        ...this.timesOf(request.arrivedAt, preferences),
      },
    );
    switch (outcome.kind) {
      case 'created':
        return { ...outcome, item: { ...outcome.item, url: `${this.config.publicSiteUrl}${outcome.item.path}` } };
      case 'queued':
        return { kind: 'queued', id };
      case 'conflict':
        throw new Refusal('UNPROCESSABLE_CONTENT');
      case 'refused':
        throw new Refusal('SERVICE_UNAVAILABLE', {
          message: 'This request has created nothing, try again',
          headers: { 'Retry-After': String(outcome.retryAfterS) },
        });
      case 'unknown':
        throw new Refusal('GATEWAY_TIMEOUT', unknownOutcome(id, key !== undefined));
      case 'failed':
        throw new Refusal('INTERNAL_SERVER_ERROR');
    }
  }

  private async itemIdOf(key: string): Promise<string> {
    const secret = this.config.idempotencySecret ?? (await this.secrets.findOrCreate('idempotency'));
    return itemIdOf(secret, ANONYMOUS, key);
  }

  private timesOf(arrivedAt: number, { respondAsync, waitMs }: Preferences) {
    const { createWaitMs } = this.config;
    const deadline = arrivedAt + Math.min(waitMs ?? (respondAsync ? 0 : createWaitMs), createWaitMs);
    const queueBy = respondAsync ? arrivedAt + createWaitMs : Math.max(deadline, arrivedAt + QUEUE_WITHIN_MS);
    return { deadline, respondAsync, queueBy };
  }

  /** Undefined when there is no such category. */
  private async filterOf(input: GetAllInput): Promise<ItemFilter | undefined> {
    const { search = '', status, categoryId: category } = input;
    const filter: ItemFilter = { terms: queryTerms(search), status: status === 'all' ? undefined : status };
    if (category === undefined) return filter;
    const categoryId = categoryNumber(category) ?? (await this.references.findCategoryId(category));
    return categoryId === null ? undefined : { ...filter, categoryId };
  }

  private async windowOf<Position>(
    { page = DEFAULT_PAGE, pageSize: limit = DEFAULT_PAGE_SIZE, after }: GetAllInput,
    find: (id: string) => Promise<Position | null>,
  ): Promise<Window<Position>> {
    if (after === undefined) return { limit, skip: (page - 1) * limit };
    const position = isItemId(after) ? await find(after) : null;
    if (position === null) throw Refusal.input([{ path: ['after'], message: 'No such item in this list' }]);
    return { limit, after: position };
  }

  private view(): ItemView {
    return { now: new Date(), siteUrl: this.config.publicSiteUrl };
  }
}

function unknownOutcome(id: string, isKeyed: boolean): RefusalDetails {
  const data = { id, outcome: 'unknown' };
  if (!isKeyed) return { message: `The item may still be created: ask getById for ${id}`, data };
  return {
    message: 'The item may still be created: try again with the same key',
    data,
    headers: { 'Retry-After': '1' },
  };
}

function isItemId(id: string): boolean {
  return ItemIdSchema.safeParse(id).success;
}
