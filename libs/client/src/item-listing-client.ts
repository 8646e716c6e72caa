import type { CreateItemInput, GetAllInput, Item } from './schema.js';
import { Transport, type CallOptions, type ClientOptions } from './transport.js';

/** A part of a list. */
export interface ItemPage {
  items: Item[];
  /** The `after` of the next page; undefined on the last page. */
  nextAfter: string | undefined;
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. Creates with the same key and input return the same item, now and later. By
   * default, each call has its own key, so that its retries never create two items.
   */
  idempotencyKey?: string;
}

const KEY_BYTES = 16;

/** The operations on items. Each throws what {@link Transport.call} throws. */
class Items {
  constructor(private readonly transport: Transport) {}

  /** Returns one page of a list. */
  async getAll(input: GetAllInput = {}, options: CallOptions = {}): Promise<ItemPage> {
    const { body, headers } = await this.transport.call('getAll', input, options);
    return { items: body as Item[], nextAfter: headers.get('Next-After') ?? undefined };
  }

  /** Yields all items of a list, requesting each page as needed. Skips or repeats no item that keeps its position. */
  async *walk(input: Omit<GetAllInput, 'page'> = {}, options: CallOptions = {}): AsyncGenerator<Item, void, undefined> {
    let page = await this.getAll(input, options);
    const rest: GetAllInput = { ...input };
    // Plain JavaScript may pass a page, which cannot be combined with `after`.
    delete rest.page;
    yield* page.items;
    while (page.nextAfter !== undefined) {
      page = await this.getAll({ ...rest, after: page.nextAfter }, options);
      yield* page.items;
    }
  }

  /** Returns an item. Throws an {@link ApiError} with the code `NOT_FOUND` if there is none with this id. */
  async getById(id: string, options: CallOptions = {}): Promise<Item> {
    const { body } = await this.transport.call('getById', { id }, options);
    return body as Item;
  }

  /** Creates an item and returns it once it is stored durably. Creates at most one, however often it is tried. */
  async create(input: CreateItemInput, { idempotencyKey, ...options }: CreateOptions = {}): Promise<Item> {
    // Plain JavaScript may pass null.
    const headers = { 'Idempotency-Key': idempotencyKey ?? newKey() };
    const { body } = await this.transport.call('create', input, { ...options, headers });
    return body as Item;
  }
}

/** A client of the Item Listing Service. */
export class ItemListingClient {
  readonly items: Items;

  constructor(options: ClientOptions) {
    this.items = new Items(new Transport(options));
  }
}

/** Returns a random key. `crypto.randomUUID` is missing in browsers on pages without HTTPS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
