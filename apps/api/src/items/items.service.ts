import { Inject, Injectable } from '@nestjs/common';
import {
  categoryNumber,
  DEFAULT_PAGE,
  DEFAULT_PAGE_SIZE,
  ItemIdSchema,
  UNKNOWN_CATEGORY,
  type CreateItemInput,
  type GetAllInput,
  type GetByIdInput,
  type Item,
} from '@app/contracts';
import {
  isExpensive,
  ItemRepository,
  ItemsTooLarge,
  MalformedItem,
  newMongoId,
  ReferenceRepository,
  itemJson,
  itemsJson,
  SecretRepository,
  type ItemFilter,
  type ItemView,
} from '@app/database';
import {
  isSameRequest,
  itemIdForKey,
  itemSize,
  itemTooLarge,
  queryTerms,
  requestHash,
  type ItemSize,
} from '@app/items';
import { EventLoopTurns, SingleFlight, withDeadline, type ApiConfig } from '@app/runtime';
import { API_CONFIG } from '../api-config.js';
import { Json } from '../orpc/json.js';
import { requireUser } from '../auth/authorizer.js';
import type { Principal } from '../auth/principal.js';
import { ApiError, InputError, type ApiErrorDetails } from '../http/api-error.js';
import { isMongodbUnavailable } from '../http/error.filter.js';
import { CreateItemProducer, refused, type ProducerOutcome, type Refusal } from './create-item.producer.js';
import { CreateMetrics } from '../metrics/create-metrics.js';
import { MalformedItems } from './malformed-items.js';
import { PageLimits } from './page-limits.js';
import { WaitingLimits } from './waiting-limits.js';
import type { Preferences } from '../http/headers/prefer.js';

/** The minimum time that a create gets to be queued, even if its client does not wait. */
const QUEUE_WITHIN_MS = 200;
/** Responses to reads are due 2 s after the request. This leaves time to send them. */
const READ_WITHIN_MS = 1800;
/**
 * The longest user id, slug or cursor that is looked up. A read holds them in memory until MongoDB responds, even if its
 * client has disconnected.
 */
const MAX_LOOKUP_LENGTH = 1000;
/** Stands in for a category that is too long to exist, so that its text is not kept. */
const NO_CATEGORY = '-'.repeat(MAX_LOOKUP_LENGTH + 1);
/** The largest page in bytes. A larger one would exceed the memory that may be held for all clients. */
const MAX_PAGE_JSON_BYTES = 40 * 1024 * 1024;
/** What a body takes on the heap at most, see `MAX_JSON`. */
const MAX_HEAP_BYTES = 4 * 1024 * 1024;
/** A larger item, in bytes of BSON, waits for its turn before getById serializes it. */
const LARGE_ITEM_BYTES = 64 * 1024;
/** A 400, because clients would repeat a 503 unchanged, and each try reads the whole page. */
const PAGE_TOO_LARGE = new InputError([
  { path: ['pageSize'], message: 'The items of this page are too large: request fewer items per page' },
]);
const UNKNOWN_POSITION = { path: ['after'], message: 'No item or cursor of this list' };
const NO_ITEMS: ItemsPage = { items: Json.of([]), nextAfter: undefined };
const NO_SUCH_ITEM = new ApiError('NOT_FOUND', { message: 'No such item' });

/** The parts of a create request besides its input. */
export interface CreateContext {
  requestId: string;
  /** The caller. */
  sellerId: string;
  /** In ms of `performance.now()`. The wait for the item begins here. */
  receivedAt: number;
  idempotencyKey: string | undefined;
  preferences: Preferences;
  /** Settles when the client has disconnected. */
  disconnected: Promise<void>;
}

/** The parts of a getAll request besides its input. */
export interface ListContext {
  /** In ms of `performance.now()`. */
  receivedAt: number;
  principal: Principal | undefined;
  /** Settles when the client has disconnected, which ends the wait. */
  disconnected: Promise<void> | undefined;
}

/** The input of getAll, with the terms of the search in place of its text. */
type ListRequest = Omit<GetAllInput, 'search'> & { terms: string[] };

/** A page, and the cursor of the next one if there is one. */
export interface ItemsPage {
  items: Json;
  nextAfter: string | undefined;
}

export type CreateResult = { kind: 'created'; item: Item; isReplay: boolean } | { kind: 'queued'; id: string };

@Injectable()
export class ItemsService {
  /** Many clients request the same page at the same time, above all the first. */
  private readonly pages = new SingleFlight<ItemsPage>();
  private readonly limits = new PageLimits();
  /** Many large items may arrive in one batch, and serializing each may take milliseconds. */
  private readonly largeItems = new EventLoopTurns(1);
  private readonly waiting: WaitingLimits;

  constructor(
    private readonly items: ItemRepository,
    private readonly references: ReferenceRepository,
    private readonly producer: CreateItemProducer,
    private readonly secrets: SecretRepository,
    private readonly malformed: MalformedItems,
    private readonly metrics: CreateMetrics,
    @Inject(API_CONFIG) private readonly config: ApiConfig,
  ) {
    this.waiting = new WaitingLimits(config.sellerBacklog !== undefined);
  }

  /**
   * Returns a serialized page of a list or of a user's favourites.
   *
   * @throws ApiError BAD_REQUEST if `after` is not a position in the list, or the page is too large; UNAUTHORIZED or
   *   FORBIDDEN if authentication is on and the favourites are those of another user
   */
  async getAll({ search = '', ...input }: GetAllInput, { receivedAt, ...caller }: ListContext): Promise<ItemsPage> {
    if (this.config.auth !== undefined && input.userId !== undefined) requireUser(caller.principal, input.userId);
    const categoryId = isTooLong(input.categoryId) ? NO_CATEGORY : input.categoryId;
    const request: ListRequest = { ...input, categoryId, terms: queryTerms(search) };
    const read = (deadline: number): Promise<ItemsPage> => this.readPage(request, deadline);
    return this.pages.load(JSON.stringify(request), receivedAt + READ_WITHIN_MS, read, caller.disconnected);
  }

  private async readPage(request: ListRequest, deadline: number): Promise<ItemsPage> {
    const { userId, page: number = DEFAULT_PAGE, pageSize: limit = DEFAULT_PAGE_SIZE, after } = request;
    if (isTooLong(after) || (after !== undefined && isTooLong(userId))) throw new InputError([UNKNOWN_POSITION]);
    if (isTooLong(userId)) return NO_ITEMS;
    const filter = await this.filterOf(request, deadline);
    const requested = after === undefined ? { limit, skip: (number - 1) * limit } : { limit, after };
    const part = await this.items.findPart(userId, requested, deadline);
    if (part === undefined) throw new InputError([UNKNOWN_POSITION]);
    if (filter === undefined) return NO_ITEMS;
    const read = async (hold: () => void): Promise<ItemsPage> => {
      const page = await this.items.findPage(part, filter, deadline).catch((error: unknown) => {
        throw error instanceof ItemsTooLarge ? PAGE_TOO_LARGE : error;
      });
      hold();
      const json = await itemsJson(page.items, this.view(), deadline, this.malformed.report);
      if (json.length > MAX_PAGE_JSON_BYTES) throw PAGE_TOO_LARGE;
      return { items: new Json(json), nextAfter: page.nextAfter };
    };
    const cost = { limit, isExpensive: userId !== undefined || isExpensive(filter, part.range) };
    return this.limits.run(cost, deadline, read);
  }

  /**
   * Returns a serialized item.
   *
   * @param receivedAt in ms of `performance.now()`
   * @throws ApiError NOT_FOUND if there is no such item, or if it is malformed; TimeoutError at the deadline
   */
  async getById({ id }: GetByIdInput, receivedAt: number): Promise<Json> {
    const isId = ItemIdSchema.safeParse(id).success;
    const deadline = receivedAt + READ_WITHIN_MS;
    const found = isId ? await this.items.findById(id, deadline) : undefined;
    if (found === undefined) throw NO_SUCH_ITEM;
    if (found.length > LARGE_ITEM_BYTES) await withDeadline(deadline, this.largeItems.next());
    try {
      return new Json(itemJson(found, this.view()));
    } catch (error) {
      if (!(error instanceof MalformedItem)) throw error;
      this.malformed.report(error);
      throw NO_SUCH_ITEM;
    }
  }

  /** Returns the number of a category given by number or slug, or null if no category has the slug. */
  async findCategoryId(category: string, deadline = performance.now() + READ_WITHIN_MS): Promise<number | null> {
    const number = categoryNumber(category);
    return number ?? (isTooLong(category) ? null : this.references.findCategoryId(category, deadline));
  }

  /** Creates an item through the queue. Returns the stored item, or the id of a queued one if that is enough. */
  async create(input: CreateItemInput, context: CreateContext): Promise<CreateResult> {
    const { sellerId } = context;
    const size = itemSize(input, this.config.maxItemBytes);
    // From here on, the input is in memory while the create waits for MongoDB, Redis and the worker.
    const heapBytes = size?.heapBytes ?? MAX_HEAP_BYTES;
    const full = this.waiting.enter(sellerId, heapBytes);
    if (full !== undefined) {
      const outcome = refused(full);
      this.metrics.countOutcome(outcome);
      throw refusal(outcome);
    }
    try {
      return await this.createCounted(size, input, context);
    } finally {
      this.waiting.leave(sellerId, heapBytes);
    }
  }

  /**
   * Creates an item that counts towards the limits of waiting creates.
   *
   * @param size undefined if the item is too large
   */
  private async createCounted(
    size: ItemSize | undefined,
    input: CreateItemInput,
    { requestId, sellerId, receivedAt, idempotencyKey: key, preferences, disconnected }: CreateContext,
  ): Promise<CreateResult> {
    const times = this.timesOf(receivedAt, preferences);
    const findBy = Math.min(times.queueBy, performance.now() + READ_WITHIN_MS);
    const categoryId = size && (await this.required(this.findCategoryId(input.categoryId, findBy)));
    const isKeyed = key !== undefined;
    const id = isKeyed ? await this.required(withDeadline(times.queueBy, this.idForKey(sellerId, key))) : newMongoId();
    if (size === undefined || categoryId === undefined || categoryId === null) {
      // Limits and categories change, but a repeated request still returns its item.
      const isSame = (stored: string): boolean | undefined => isSameRequest(stored, input);
      const earlier = isKeyed ? await this.producer.findEarlier(id, { ...times, isSame }) : undefined;
      if (earlier !== undefined) return this.resultOf(earlier, id, isKeyed);
      if (size !== undefined) throw new InputError([UNKNOWN_CATEGORY]);
      throw new ApiError('PAYLOAD_TOO_LARGE', { message: itemTooLarge(this.config.maxItemBytes) });
    }
    const hash = requestHash(input);
    const isSame = (stored: string): boolean | undefined => stored === hash || isSameRequest(stored, input);
    // A spread comes last, here and on the rest of this path: V8 is slow to add properties after one.
    const outcome = await this.producer.create(
      { id, requestId, requestHash: hash, sellerId, item: { ...input, categoryId } },
      { isKeyed, size, isSame, disconnected, ...times },
    );
    return this.resultOf(outcome, id, isKeyed);
  }

  /** Counts the outcome of a create if what it needs from MongoDB cannot be read. */
  private async required<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      const isRefused = isMongodbUnavailable(error);
      this.metrics.countOutcome(isRefused ? { kind: 'refused', reason: 'mongodb' } : { kind: 'failed' });
      throw error;
    }
  }

  /** Counts the outcome of a create, and returns its result or throws its error. */
  private resultOf(outcome: ProducerOutcome, id: string, isKeyed: boolean): CreateResult {
    this.metrics.countOutcome(outcome);
    switch (outcome.kind) {
      case 'created': {
        const { kind, item, isReplay } = outcome;
        // A copy of so many fields would cost more than the rest of this method. Waiting creates share the item and its URL.
        return { kind, item: Object.assign(item, { url: `${this.config.publicSiteUrl}${item.path}` }), isReplay };
      }
      case 'queued':
        return { kind: 'queued', id };
      case 'conflict':
        throw new ApiError('UNPROCESSABLE_CONTENT');
      case 'refused':
        throw refusal(outcome);
      case 'unknown':
        throw new ApiError('GATEWAY_TIMEOUT', unknownOutcome(id, isKeyed));
      case 'failed':
        throw new ApiError('INTERNAL_SERVER_ERROR');
    }
  }

  private async idForKey(sellerId: string, key: string): Promise<string> {
    const secret = this.config.idempotencySecret ?? (await this.secrets.findOrCreate());
    return itemIdForKey(secret, sellerId, key);
  }

  private timesOf(receivedAt: number, { respondAsync, waitMs }: Preferences) {
    const { createWaitMs } = this.config;
    const deadline = receivedAt + Math.min(waitMs ?? (respondAsync ? 0 : createWaitMs), createWaitMs);
    const queueBy = respondAsync ? receivedAt + createWaitMs : Math.max(deadline, receivedAt + QUEUE_WITHIN_MS);
    return { deadline, respondAsync, queueBy };
  }

  /** Returns undefined if there is no such category. */
  private async filterOf(
    { terms, status, categoryId: category }: ListRequest,
    deadline: number,
  ): Promise<ItemFilter | undefined> {
    const filter: ItemFilter = { terms, status: status === 'all' ? undefined : status };
    if (category === undefined) return filter;
    const categoryId = await this.findCategoryId(category, deadline);
    return categoryId === null ? undefined : { ...filter, categoryId };
  }

  private view(): ItemView {
    return { now: new Date(), siteUrl: this.config.publicSiteUrl };
  }
}

function isTooLong(lookup: string | undefined): boolean {
  return lookup !== undefined && lookup.length > MAX_LOOKUP_LENGTH;
}

function refusal({ reason, retryAfterS }: Refusal): ApiError {
  const headers = { 'Retry-After': String(retryAfterS) };
  if (reason === 'seller')
    return new ApiError('TOO_MANY_REQUESTS', {
      message: 'Too many of your creates are waiting. This request has created nothing, try again',
      headers,
    });
  return new ApiError('SERVICE_UNAVAILABLE', { message: 'This request has created nothing, try again', headers });
}

function unknownOutcome(id: string, isKeyed: boolean): ApiErrorDetails {
  const data = { id, outcome: 'unknown' };
  if (!isKeyed) return { message: `The item may still be created: ask getById for ${id}`, data };
  return {
    message: 'The item may still be created: try again with the same key',
    data,
    headers: { 'Retry-After': '1' },
  };
}
