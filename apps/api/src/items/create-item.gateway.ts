import type { ItemWithoutUrl } from '@app/contracts';
import type { ItemRepository } from '@app/database';
import type { CreateQueue, HeldJob, NewJob, ReplySubscriber } from '@app/queue';
import type { ItemSize } from '@app/items';
import { EXPIRED, Limiter, settledBy, settledWithin } from '@app/runtime';
import { PendingCreates, type PendingCreate } from './pending-creates.js';

/** What a client wants of a create beyond the item. All times are in ms of `performance.now()`. */
export interface CreateTerms {
  /** The id comes from an Idempotency-Key: it may have been used before. */
  isKeyed: boolean;
  size: ItemSize;
  /** When the wait for the item is over. */
  deadline: number;
  /** A queued job is answer enough once the wait is over. */
  respondAsync: boolean;
  /** Until when the job has to be in the queue. */
  queueBy: number;
  /** Whether a stored request hash is that of this request; undefined when only a later version can tell. */
  isSame: (requestHash: string) => boolean | undefined;
  /** Settles when the client has disconnected. */
  gone: Promise<unknown>;
}

/** The outcome of a create. */
export type GatewayOutcome =
  | { kind: 'created'; item: ItemWithoutUrl; isReplay: boolean }
  | { kind: 'queued' }
  /** The key was used with another request. */
  | { kind: 'conflict' }
  | { kind: 'failed' }
  /** Certainly nothing was queued. */
  | { kind: 'refused'; retryAfterS: number }
  /** It may be queued, or even stored, but nobody said so in time. */
  | { kind: 'unknown' };

/** Creates that are being queued: enough to keep Redis busy, few enough for reads to run in between. */
const QUEUEING_AT_ONCE = 16;
/** A look for an earlier create that takes longer is given up: the insert finds it as well. */
const EARLY_FIND_MS = 1000;
/** A look at each store when the wait is over; the answer is late by no more than three times as much. */
const LATE_FIND_MS = 100;
const REFUSED: GatewayOutcome = { kind: 'refused', retryAfterS: 1 };
const CONFLICT = { kind: 'conflict' } as const;
const FAILED = { kind: 'failed' } as const;
const UNKNOWN = { kind: 'unknown' } as const;

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
  async create(request: Omit<NewJob, 'replyTo'>, terms: CreateTerms): Promise<GatewayOutcome> {
    // Waiting begins before the job is queued: a fast worker's reply may overtake the answer of Redis.
    const pending = this.pending.join({ ...request, replyTo: this.replies.channel }, terms.size);
    if (pending === undefined) return REFUSED;
    try {
      const queueing = pending.queueOnce(() => this.enqueue(pending, terms));
      const ended = await settledBy(terms.queueBy, queueing, Promise.race([terms.gone, pending.outcome]));
      if (ended !== undefined) return ended;
      return pending.isSent ? await this.waitFor(pending, terms) : REFUSED;
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
    const earlier = terms.isKeyed ? await this.findUnder(pending.job.id, terms, EARLY_FIND_MS) : NOTHING;
    if (isOutcome(earlier)) return earlier;
    // A client that does not wait would never learn that the key was used with another body.
    if (earlier.kind === 'no redis' || (earlier.kind === 'no mongodb' && terms.respondAsync)) return REFUSED;
    const limits = { deadline: terms.queueBy, gone: pending.outcome };
    const ended = await this.limiter.run(() => this.send(pending, terms, earlier), limits);
    return ended === EXPIRED ? REFUSED : ended;
  }

  private async send(
    pending: PendingCreate,
    terms: CreateTerms,
    earlier: Exclude<Earlier, Known>,
  ): Promise<GatewayOutcome | undefined> {
    const held = 'held' in earlier ? earlier.held : undefined;
    try {
      if (earlier.kind === 'unreadable') await this.queue.replaceData(earlier.held, pending.job);
      const waitMs = terms.respondAsync ? undefined : Math.max(0, terms.deadline - performance.now());
      const retryAfterS = held === undefined ? await this.queue.backlog.admit(terms.size.bytes, waitMs) : undefined;
      if (retryAfterS !== undefined) return { kind: 'refused', retryAfterS };
    } catch {
      // Redis did not answer, and nothing has been queued yet.
      return REFUSED;
    }
    // All its clients may have left while Redis was asked.
    if (pending.isSettled) return REFUSED;
    pending.markSent();
    const enqueued = await (held === undefined ? this.queue.add(pending.job) : this.queue.retry(pending.job.id));
    if (enqueued === 'refused') return REFUSED;
    // Where Redis did not confirm it, the job is looked up, and queued again, while its client waits.
    if (enqueued === 'queued') pending.markQueued();
    return undefined;
  }

  /** Looks for an earlier create under the same key. Asks MongoDB last: the item of a job that has left the queue is there. */
  private async findUnder(id: string, { isSame, respondAsync }: CreateTerms, withinMs: number): Promise<Earlier> {
    const finding = this.queue.find(id).then((held) => held ?? NOTHING);
    // A command to a silent Redis fails by itself soon after, and the connection with it.
    const held = await settledWithin(2 * withinMs, finding);
    let job: Earlier = NOTHING;
    if (held !== undefined && 'data' in held)
      job =
        held.requestHash === undefined
          ? { kind: 'unreadable', held }
          : ifSame(isSame(held.requestHash), { kind: 'held', held });
    // A waiting job may hold another body than the stored item; only a client that waits for it would learn that.
    if (isOutcome(job) || (job.kind === 'held' && !respondAsync)) return job;
    const found = await settledWithin(withinMs, this.items.findStored([id]));
    const [stored] = found ?? [];
    if (stored !== undefined) {
      const { item, requestHash } = stored;
      return ifSame(isSame(requestHash), item === undefined ? FAILED : { kind: 'created', item, isReplay: true });
    }
    if (held === undefined) return { kind: 'no redis' };
    if (found === undefined) return { kind: 'no mongodb' };
    return job;
  }

  private async waitFor(pending: PendingCreate, terms: CreateTerms): Promise<GatewayOutcome> {
    const { deadline, queueBy, respondAsync, isKeyed, isSame, gone } = terms;
    const outcome = await settledBy(deadline, pending.outcome, gone);
    if (outcome?.kind === 'created')
      return ifSame(isSame(outcome.requestHash), { kind: 'created', item: outcome.item, isReplay: false });
    if (outcome === undefined && respondAsync) await settledBy(queueBy, pending.queued, gone);
    const accepted: GatewayOutcome = respondAsync && pending.isQueued ? { kind: 'queued' } : UNKNOWN;
    if (!isKeyed) return outcome ?? accepted;
    // Of two bodies that race for one key, the one that was queued first counts.
    const late = await this.findUnder(pending.job.id, terms, respondAsync ? EARLY_FIND_MS : LATE_FIND_MS);
    if (isOutcome(late)) return late.kind === 'created' && accepted.kind === 'queued' ? accepted : late;
    // The job may have been retried since.
    if (outcome !== undefined) return late.kind === 'held' && !late.held.hasFailed ? UNKNOWN : outcome;
    return late.kind === 'held' ? accepted : UNKNOWN;
  }
}

type Known = Extract<GatewayOutcome, { kind: 'created' | 'conflict' | 'failed' | 'unknown' }>;

/** What there is under a key; a store that does not say so in time leaves it open. */
type Earlier = Known | { kind: 'held' | 'unreadable'; held: HeldJob } | { kind: 'nothing' | 'no redis' | 'no mongodb' };

const NOTHING: Earlier = { kind: 'nothing' };

function isOutcome(earlier: Earlier): earlier is Known {
  return 'isReplay' in earlier || [CONFLICT, FAILED, UNKNOWN].some(({ kind }) => kind === earlier.kind);
}

/** Returns what is there, unless another request made it, or one that only a later version can compare. */
function ifSame<T>(isSame: boolean | undefined, there: T): T | Known {
  if (isSame === undefined) return UNKNOWN;
  return isSame ? there : CONFLICT;
}
