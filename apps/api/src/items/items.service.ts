import { Inject, Injectable } from '@nestjs/common';
import {
  categoryNumber,
  DEFAULT_PAGE,
  DEFAULT_PAGE_SIZE,
  ItemIdSchema,
  type GetAllInput,
  type GetByIdInput,
  type Item,
  type SitelessItem,
} from '@app/contracts';
import {
  ItemRepository,
  newMongoId,
  ReferenceRepository,
  toSitelessItem,
  type ItemFilter,
  type StoredItem,
  type Window,
} from '@app/database';
import { queryTerms, requestHash } from '@app/items';
import type { ApiConfig } from '@app/runtime';
import { API_CONFIG } from '../api-config.js';
import { Refusal } from '../orpc/refusal.js';
import { CreateItemGateway } from './create-item.gateway.js';
import type { ValidCreate } from './create-input.pipe.js';

/** Until authentication exists every caller is the same one. */
const ANONYMOUS = 'anonymous';

const NO_SUCH_CATEGORY = 'no such category';

@Injectable()
export class ItemsService {
  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly gateway: CreateItemGateway,
    @Inject(API_CONFIG) private readonly config: ApiConfig,
  ) {}

  /** One page of a list, or of a user's favourites. */
  async getAll(input: GetAllInput): Promise<Item[]> {
    const filter = await this.filterOf(input);
    if (filter === NO_SUCH_CATEGORY) return [];
    const { userId } = input;
    const page =
      userId === undefined
        ? await this.items.findPage(filter, await this.windowOf(input, (id) => this.items.findListPosition(id)))
        : await this.items.findFavouritesPage(
            userId,
            filter,
            await this.windowOf(input, (id) => this.items.findFavouritePosition(userId, id)),
          );
    return page.map((record) => this.toItem(record));
  }

  /** @throws Refusal NOT_FOUND */
  async getById({ id }: GetByIdInput): Promise<Item> {
    const found = isItemId(id) ? await this.items.findById(id) : null;
    if (found === null) throw new Refusal('NOT_FOUND', { message: 'No such item' });
    return this.toItem(found);
  }

  /** Creates an item through the queue and answers it once it is stored. */
  async create({ input, categoryId }: ValidCreate, requestId: string): Promise<Item> {
    const id = newMongoId();
    const outcome = await this.gateway.create({
      id,
      requestId,
      requestHash: requestHash(input),
      sellerId: ANONYMOUS,
      item: { ...input, categoryId },
    });
    switch (outcome.kind) {
      case 'created':
        return this.withUrl(outcome.item);
      case 'refused':
        throw new Refusal('SERVICE_UNAVAILABLE', {
          message: 'Nothing was created, try again',
          headers: { 'Retry-After': '1' },
        });
      case 'unknown':
        throw new Refusal('GATEWAY_TIMEOUT', {
          message: `The item may still be created: ask getById for ${id}`,
          data: { id, outcome: 'unknown' },
        });
      case 'failed':
        throw new Refusal('INTERNAL_SERVER_ERROR');
    }
  }

  private async filterOf(input: GetAllInput): Promise<ItemFilter | typeof NO_SUCH_CATEGORY> {
    const { search = '', status, categoryId: category } = input;
    const filter: ItemFilter = { terms: queryTerms(search), status: status === 'all' ? undefined : status };
    if (category === undefined) return filter;
    const categoryId = categoryNumber(category) ?? (await this.references.findCategoryId(category));
    return categoryId === null ? NO_SUCH_CATEGORY : { ...filter, categoryId };
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

  private toItem(record: StoredItem): Item {
    return this.withUrl(toSitelessItem(record, new Date()));
  }

  private withUrl(item: SitelessItem): Item {
    return { ...item, url: `${this.config.publicSiteUrl}${item.path}` };
  }
}

function isItemId(id: string): boolean {
  return ItemIdSchema.safeParse(id).success;
}
