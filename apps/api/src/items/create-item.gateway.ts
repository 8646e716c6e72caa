import type { CreateJob, CreateOutcome, SitelessItem } from '@app/contracts';
import { toSitelessItem, type ItemRecord, type ItemRepository } from '@app/database';
import type { CreateQueue, NewJob, ReplySubscriber } from '@app/queue';
import { EXPIRED, Limiter, settledBy, settledWithin } from '@app/runtime';
import { PendingCreates, type PendingCreate } from './pending-creates.js';

/** What the gateway adds to a job itself is left out. */
export type CreateRequest = Omit<CreateJob, 'version' | 'replyTo'>;

/** What a client wants of a create beyond the item. All times are in ms of `performance.now()`. */
export interface CreateTerms {
  /** The id comes from an Idempotency-Key: it may have been used before. */
  isKeyed: boolean;
  /** Bytes of the item as JSON. */
  bytes: number;
  arrivedAt: number;
  /** When the wait for the item is over. */
  deadline: number;
  /** A queued job is answer enough once the wait is over. */
  respondAsync: boolean;
  /** Until when the job has to be in the queue. */
  queueBy: number;
  /** Whether a stored request hash is that of this request. */
  isSame: (requestHash: string) => boolean;
  /** Settles when the client has disconnected. */
  gone: Promise<void>;
}

/** The outcome of a create. */
export type GatewayOutcome =
  | { kind: 'created'; item: SitelessItem; isReplay: boolean }
  | { kind: 'queued' }
  /** The key was used with another request. */
  | { kind: 'conflict' }
  | { kind: 'failed' }
  /** Certainly nothing was queued. */
  | { kind: 'refused'; retryAfterS: number }
  /** It may be queued, or even stored, but nobody said so in time. */
  | { kind: 'unknown' };

/** Creates on their way into the queue: enough to keep Redis busy, few enough for reads to get in between. */
const QUEUEING_AT_ONCE = 32;
/** A look for an earlier create that takes longer is given up: the insert finds it as well. */
const EARLY_FIND_MS = 1000;
/** A look at the stores when the wait is over makes the answer late by no more than this. */
const LATE_FIND_MS = 200;
const REFUSED: GatewayOutcome = { kind: 'refused', retryAfterS: 1 };
const UNKNOWN: GatewayOutcome = { kind: 'unknown' };

/** Queues one create and waits for its outcome: the only producer of create jobs. */
export class CreateItemGateway {
  private readonly pending: PendingCreates;
  private readonly limiter = new Limiter(QUEUEING_AT_ONCE);

  constructor(
    private readonly queue: CreateQueue,
    private readonly replies: ReplySubscriber,
    private readonly items: ItemRepository,
  ) {
    this.pending = new PendingCreates(queue, items);
    replies.listen(({ id, outcome }) => {
      this.pending.settle(id, outcome);
    });
  }

  /** Never throws for what the stores or the worker do. */
  async create(request: CreateRequest, terms: CreateTerms): Promise<GatewayOutcome> {
    // Waiting begins before the job is queued: a fast worker's reply may overtake the answer of Redis.
    const pending = this.pending.join({ ...request, replyTo: this.replies.channel }, terms.bytes);
    if (pending === undefined) return REFUSED;
    try {
      const enqueue = (): Promise<GatewayOutcome | undefined> => pending.queueOnce(() => this.enqueue(pending, terms));
      const ended = await this.limiter.run(enqueue, { deadline: terms.queueBy, gone: terms.gone });
      if (ended === EXPIRED) return REFUSED;
      return ended ?? (await this.waitFor(pending, terms));
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

  /** Returns undefined when the job is, or may be, in the queue: this one, or an equal one under the same key. */
  private async enqueue(pending: PendingCreate, terms: CreateTerms): Promise<GatewayOutcome | undefined> {
    try {
      const earlier = terms.isKeyed ? await this.findEarlier(pending, terms) : undefined;
      if (earlier !== undefined) return earlier === 'joined' ? undefined : earlier;
      const waitMs = terms.respondAsync ? undefined : terms.deadline - terms.arrivedAt;
      const retryAfterS = await this.queue.backlog.admit(terms.bytes, waitMs);
      if (retryAfterS !== undefined) return { kind: 'refused', retryAfterS };
    } catch {
      // A store did not answer, and nothing has been queued yet.
      return REFUSED;
    }
    pending.markSent();
    const enqueued = await this.queue.add(pending.job);
    if (enqueued === 'refused') return REFUSED;
    // Where Redis did not confirm it, the job is looked up and queued again while its client waits.
    if (enqueued === 'queued') pending.markQueued();
    return undefined;
  }

  /**
   * Joins the job, or returns the item, that there is under the same key. MongoDB is asked last: a job that has left the
   * queue is stored there.
   *
   * @throws when Redis does not answer, and there is no item
   */
  private async findEarlier(
    pending: PendingCreate,
    { isSame, respondAsync }: CreateTerms,
  ): Promise<'joined' | GatewayOutcome | undefined> {
    const { id } = pending.job;
    const held = await this.queue.find(id).catch((error: unknown) => error as Error);
    if (held !== undefined && 'data' in held && held.requestHash !== undefined) {
      if (!isSame(held.requestHash)) return { kind: 'conflict' };
      return this.joinHeld(pending, held.hasFailed);
    }
    const stored = await this.findStored(id, EARLY_FIND_MS);
    if (stored !== undefined && stored !== 'unknown') return replay(stored, isSame);
    if (held instanceof Error) throw held;
    // Without a wait nobody would notice later that the key was used with another body.
    if (stored === 'unknown' && respondAsync) return REFUSED;
    if (held === undefined) return undefined;
    await this.queue.replaceData(held, pending.job);
    return this.joinHeld(pending, held.hasFailed);
  }

  private async joinHeld(pending: PendingCreate, hasFailed: boolean): Promise<'joined' | GatewayOutcome> {
    const enqueued = hasFailed ? await this.queue.retry(pending.job.id) : 'queued';
    if (enqueued === 'refused') return REFUSED;
    pending.markSent();
    if (enqueued === 'queued') pending.markQueued();
    return 'joined';
  }

  private async waitFor(pending: PendingCreate, terms: CreateTerms): Promise<GatewayOutcome> {
    const outcome = await settledBy(terms.deadline, pending.outcome, terms.gone);
    if (outcome?.kind === 'created') return toGatewayOutcome(outcome, terms);
    if (outcome === undefined && terms.respondAsync) return this.waitUntilQueued(pending, terms);
    const isAnothers = terms.isKeyed && (await this.isAnothers(pending.job, terms));
    return isAnothers ? { kind: 'conflict' } : (outcome ?? UNKNOWN);
  }

  private async waitUntilQueued(pending: PendingCreate, terms: CreateTerms): Promise<GatewayOutcome> {
    await settledBy(terms.queueBy, Promise.race([pending.queued, pending.outcome]), terms.gone);
    if (!pending.isQueued) return UNKNOWN;
    if (!terms.isKeyed) return { kind: 'queued' };
    // Of two bodies that race for one key, the one that was queued first counts.
    const held = await settledWithin(
      LATE_FIND_MS,
      this.queue.find(pending.job.id).catch(() => null),
    );
    if (held?.requestHash !== undefined) return { kind: terms.isSame(held.requestHash) ? 'queued' : 'conflict' };
    const stored = await this.findStored(pending.job.id, LATE_FIND_MS);
    if (stored === 'unknown') return UNKNOWN;
    return stored === undefined ? { kind: 'queued' } : replay(stored, terms.isSame);
  }

  /** Two requests may race for one key: the one that was queued counts. */
  private async isAnothers({ id }: NewJob, { isSame, gone }: CreateTerms): Promise<boolean> {
    const found = this.queue.find(id).catch(() => undefined);
    const held = await settledWithin(LATE_FIND_MS, found, gone);
    return held?.requestHash !== undefined && !isSame(held.requestHash);
  }

  /** The item with this id, or undefined when there is none; `unknown` when MongoDB does not say so in time. */
  private async findStored(id: string, withinMs: number): Promise<ItemRecord | undefined | 'unknown'> {
    const found = this.items.findStored([id]).catch(() => undefined);
    const stored = await settledWithin(withinMs, found);
    return stored === undefined ? 'unknown' : stored[0];
  }
}

function replay(stored: ItemRecord, isSame: CreateTerms['isSame']): GatewayOutcome {
  if (!isSame(stored.requestHash)) return { kind: 'conflict' };
  return { kind: 'created', item: toSitelessItem(stored, new Date()), isReplay: true };
}

function toGatewayOutcome(
  { requestHash, item }: Extract<CreateOutcome, { kind: 'created' }>,
  { isSame }: CreateTerms,
): GatewayOutcome {
  return isSame(requestHash) ? { kind: 'created', item, isReplay: false } : { kind: 'conflict' };
}
