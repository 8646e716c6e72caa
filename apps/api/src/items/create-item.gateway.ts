import type { CreateJob, CreateOutcome } from '@app/contracts';
import { toSitelessItem, type ItemRecord, type ItemRepository } from '@app/database';
import type { CreateQueue, Enqueued, ReplySubscriber } from '@app/queue';
import { PendingCreates, type GatewayOutcome, type PendingCreate } from './pending-creates.js';
import { Turnstile } from './turnstile.js';

/** What the gateway adds to a job itself is left out. */
export type CreateRequest = Omit<CreateJob, 'version' | 'replyTo'>;

/** What a client wants of a create beyond the item. */
export interface CreateTerms {
  /** The id comes from an Idempotency-Key: it may have been used before. */
  isKeyed: boolean;
  /** Longest wait for the item. */
  waitMs: number;
  /** When the wait is over, that the job is queued is answer enough. */
  respondAsync: boolean;
  /** Settles when the client has hung up. */
  gone: Promise<void>;
}

/** About two milliseconds' work. */
const CREATES_PER_TURN = 8;
/** While reads are under way: the turns that their answers wait for are then short ones. */
const CREATES_BESIDE_READS = 2;
/** A look for an earlier create that takes longer is given up: the insert finds it as well. */
const EARLY_FIND_MS = 1000;
/** A look at the queue when the wait is over makes the answer late by no more than this. */
const LATE_FIND_MS = 500;
const REFUSED: GatewayOutcome = { kind: 'refused', retryAfterS: 1 };

/** Queues one create and waits for its outcome: the only producer of create jobs. */
export class CreateItemGateway {
  private readonly pending: PendingCreates;
  /** Creates come in bursts, and so do replies: reads must get in between. */
  private readonly turnstile = new Turnstile(() => (this.items.isReading ? CREATES_BESIDE_READS : CREATES_PER_TURN));

  constructor(
    private readonly queue: CreateQueue,
    private readonly replies: ReplySubscriber,
    private readonly items: ItemRepository,
  ) {
    this.pending = new PendingCreates(queue, items);
    replies.listen(({ id, outcome }) => {
      void this.turnstile.pass().then(() => {
        this.pending.settle(id, outcome);
      });
    });
  }

  /** Never throws for what the stores or the worker do. */
  async create(request: CreateRequest, terms: CreateTerms): Promise<GatewayOutcome> {
    const stored = terms.isKeyed ? await this.findEarly(request.id) : undefined;
    if (stored !== undefined) return replay(stored, request);
    // Waiting begins before the job is queued: a fast worker's reply may overtake the answer of Redis.
    const pending = this.pending.join(request);
    if (pending === undefined) return REFUSED;
    try {
      await this.turnstile.pass();
      pending.enqueued ??= this.enqueue(request, terms, pending);
      return (await pending.enqueued) ?? (await this.waitFor(pending, request, terms));
    } finally {
      this.pending.leave(pending);
    }
  }

  /** Settles all that still wait as `unknown`: the process is about to end. */
  abandon(): void {
    this.pending.abandon();
  }

  close(): void {
    this.pending.close();
  }

  private async findEarly(id: string): Promise<ItemRecord | undefined> {
    const found = this.items.findStored([id]).catch(() => []);
    const [stored] = (await settledWithin(EARLY_FIND_MS, found)) ?? [];
    return stored;
  }

  /** Undefined when the job is in the queue: this one, or an equal one under the same key. */
  private async enqueue(
    request: CreateRequest,
    terms: CreateTerms,
    pending: PendingCreate,
  ): Promise<GatewayOutcome | undefined> {
    const job = { ...request, replyTo: this.replies.channel };
    pending.addAgain = () => this.queue.add(job);
    try {
      const earlier = terms.isKeyed ? await this.joinEarlier(request) : 'none';
      if (earlier === 'joined') pending.queuedAt = Date.now();
      if (earlier !== 'none') return earlier === 'joined' ? undefined : earlier;
      const retryAfterS = await this.queue.backlog.admit(terms.respondAsync ? undefined : terms.waitMs);
      if (retryAfterS !== undefined) return { kind: 'refused', retryAfterS };
    } catch {
      // A store did not answer, and nothing has been queued yet.
      return REFUSED;
    }
    const enqueued = await this.queue.add(job);
    if (enqueued === 'queued') pending.queuedAt = Date.now();
    return unlessQueued(enqueued);
  }

  /** Joins the job that the queue holds under the same key. @throws when a store does not answer */
  private async joinEarlier(request: CreateRequest): Promise<'none' | 'joined' | GatewayOutcome> {
    const { id, requestHash } = request;
    const held = await this.queue.find(id);
    if (held === undefined) return 'none';
    if (held.state === 'completed') {
      // Stored since the early look, or its item has been deleted since: then the key is free again.
      const [stored] = await this.items.findStored([id]);
      if (stored !== undefined) return replay(stored, request);
      await this.queue.forget(id);
      return 'none';
    }
    if (held.requestHash !== requestHash) return { kind: 'conflict' };
    if (held.state !== 'failed') return 'joined';
    return unlessQueued(await this.queue.retry(id)) ?? 'joined';
  }

  private async waitFor(pending: PendingCreate, request: CreateRequest, terms: CreateTerms): Promise<GatewayOutcome> {
    const outcome = await settledWithin(terms.waitMs, pending.outcome, terms.gone);
    if (outcome?.kind === 'created') return toGatewayOutcome(outcome, request);
    if (await this.isAnothers(request, terms)) return { kind: 'conflict' };
    return outcome ?? { kind: terms.respondAsync ? 'queued' : 'unknown' };
  }

  /** Two requests may race for one key: the one that was queued counts. */
  private async isAnothers({ id, requestHash }: CreateRequest, { isKeyed, gone }: CreateTerms): Promise<boolean> {
    if (!isKeyed) return false;
    const found = this.queue.find(id).catch(() => undefined);
    const held = await settledWithin(LATE_FIND_MS, found, gone);
    return held !== undefined && held.requestHash !== requestHash;
  }
}

function unlessQueued(enqueued: Enqueued): GatewayOutcome | undefined {
  if (enqueued === 'queued') return undefined;
  return enqueued === 'refused' ? REFUSED : { kind: 'unknown' };
}

function replay(stored: ItemRecord, { requestHash }: CreateRequest): GatewayOutcome {
  if (stored.requestHash !== requestHash) return { kind: 'conflict' };
  return { kind: 'created', item: toSitelessItem(stored, new Date()), isReplay: true };
}

function toGatewayOutcome(
  outcome: Extract<CreateOutcome, { kind: 'created' }>,
  { requestHash }: CreateRequest,
): GatewayOutcome {
  if (outcome.requestHash !== requestHash) return { kind: 'conflict' };
  return { kind: 'created', item: outcome.item, isReplay: false };
}

/** What a promise settles with, or undefined when it takes longer or nobody wants it any more. */
function settledWithin<T>(ms: number, promise: Promise<T>, gone?: Promise<void>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, ms);
    void gone?.then(giveUp);
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}
