import type { ItemWithoutUrl } from '@app/contracts';
import type { ItemRepository } from '@app/database';
import type { CreateQueue, EnqueueResult, ExistingJob, NewJob, ReplySubscriber } from '@app/queue';
import type { ItemSize } from '@app/items';
import { EXPIRED, Limiter, settledBy, settledWithin } from '@app/runtime';
import type { CreateMetrics, RefusalReason } from '../metrics/create-metrics.js';
import { PendingCreates, type PendingCreate } from './pending-creates.js';

/** How to carry out a create. All times are in ms of `performance.now()`. */
export interface ProducerOptions {
  /** Whether the id is derived from an Idempotency-Key, which may have been used before. */
  isKeyed: boolean;
  size: ItemSize;
  /** When the wait for the item ends. */
  deadline: number;
  /** Whether a queued job is enough once the wait is over. */
  respondAsync: boolean;
  /** When the job must be in the queue. */
  queueBy: number;
  /** Returns whether a stored request hash is that of this request, or undefined if only a later version can tell. */
  isSame: (requestHash: string) => boolean | undefined;
  /** Settles when the client has disconnected. */
  disconnected: Promise<unknown>;
}

/** It is certain that nothing was queued. */
export interface Refusal {
  kind: 'refused';
  retryAfterS: number;
  reason: RefusalReason;
}

/** The outcome of a create. */
export type ProducerOutcome =
  | { kind: 'created'; item: ItemWithoutUrl; isReplay: boolean }
  | { kind: 'queued' }
  /** The key was used with another request. */
  | { kind: 'conflict' }
  | { kind: 'failed' }
  | Refusal
  /** It may be queued or even stored, but no confirmation came in time. */
  | { kind: 'unknown' };

/** Creates that are queued concurrently: enough to keep Redis busy, few enough for reads to run in between. */
const MAX_QUEUEING = 16;
/** Limit of the search for an earlier create before queueing. It may give up, because the insert finds it as well. */
const EARLY_FIND_MS = 1000;
/** Limit of the search in MongoDB after the wait. The one in Redis before it may take twice as long. */
const LATE_FIND_MS = 100;
/** A timer may fire this much earlier than it is due. */
const TIMER_PRECISION_MS = 2;
const CONFLICT = { kind: 'conflict' } as const;
const FAILED = { kind: 'failed' } as const;
const UNKNOWN = { kind: 'unknown' } as const;

/** Queues creates and waits for their outcome. The only producer of create jobs. */
export class CreateItemProducer {
  private readonly pending: PendingCreates;
  private readonly limiter = new Limiter(MAX_QUEUEING);

  constructor(
    private readonly queue: CreateQueue,
    private readonly replies: ReplySubscriber,
    private readonly items: ItemRepository,
    private readonly metrics: CreateMetrics,
  ) {
    this.pending = new PendingCreates(queue, items);
    replies.listen(({ id, outcome }) => {
      this.pending.settle(id, outcome, 'reply');
    });
  }

  /** Queues a create and returns its outcome. Never throws when a store or the worker fails. */
  async create(request: Omit<NewJob, 'replyTo'>, options: ProducerOptions): Promise<ProducerOutcome> {
    // Register the waiter before queueing: a fast worker's reply may arrive before Redis confirms the job.
    const pending = this.pending.join({ replyTo: this.replies.channel, ...request }, options.size);
    if (pending === undefined) return refused('time');
    try {
      const queueing = pending.queueOnce(() => this.enqueue(pending, options));
      const ended = await settledBy(options.queueBy, queueing, Promise.race([options.disconnected, pending.outcome]));
      if (ended !== undefined) return ended;
      if (pending.isSent) return await this.waitFor(pending, options);
      // Otherwise the time is over, or the process is about to end.
      const hasLeft = !pending.isSettled && performance.now() < options.queueBy - TIMER_PRECISION_MS;
      return refused(hasLeft ? 'disconnected' : 'time');
    } finally {
      this.pending.leave(pending);
    }
  }

  /** Returns the outcome of an earlier create under a key, or undefined if there is none. Queues nothing. */
  async findEarlier(
    id: string,
    { isSame, respondAsync, queueBy }: FindOptions & Pick<ProducerOptions, 'queueBy'>,
  ): Promise<ProducerOutcome | undefined> {
    // Asks MongoDB even if there is a job.
    const earlier = await this.findByKey(id, { isSame, respondAsync: true }, findMsUntil(queueBy));
    if (isOutcome(earlier)) return earlier;
    if (earlier.kind === 'no redis') return refused('redis');
    if (earlier.kind === 'no mongodb') return refused('mongodb');
    if (earlier.kind !== 'existing') return undefined;
    if (earlier.existing.hasFailed) return FAILED;
    return respondAsync ? { kind: 'queued' } : UNKNOWN;
  }

  /** Ends all waits, because the process is about to end. */
  abandon(): void {
    this.pending.abandon();
  }

  /** Returns undefined once the job, or an equal one under the same key, is or may be in the queue. */
  private async enqueue(pending: PendingCreate, options: ProducerOptions): Promise<ProducerOutcome | undefined> {
    const earlier = options.isKeyed ? await this.findByKey(pending.job.id, options, EARLY_FIND_MS) : NOTHING;
    if (isOutcome(earlier)) return earlier;
    // A client that does not wait for the item would never learn that the key was used with another body.
    if (earlier.kind === 'no redis') return refused('redis');
    if (earlier.kind === 'no mongodb' && options.respondAsync) return refused('mongodb');
    const limits = { deadline: options.queueBy, cancelled: pending.outcome };
    const ended = await this.limiter.run(() => this.send(pending, options, earlier), limits);
    return ended === EXPIRED ? refused('time') : ended;
  }

  private async send(
    pending: PendingCreate,
    options: ProducerOptions,
    earlier: Exclude<Earlier, Known>,
  ): Promise<ProducerOutcome | undefined> {
    const existing = 'existing' in earlier ? earlier.existing : undefined;
    let priority: number | undefined;
    const job = { sellerId: pending.job.sellerId, bytes: options.size.bytes };
    try {
      const waitMs = options.respondAsync ? undefined : Math.max(0, options.deadline - performance.now());
      if (existing === undefined) {
        const admission = await this.queue.admit({ ...job, waitMs });
        if (admission.kind === 'refused') return admission;
        ({ priority } = admission);
      }
    } catch {
      // Redis did not respond, and nothing has been queued yet.
      return refused('redis');
    }
    // While Redis was asked, all its clients may have disconnected, or its time may have passed.
    if (pending.isSettled || performance.now() > options.queueBy) {
      if (existing === undefined) this.queue.release(job);
      return refused('time');
    }
    pending.markSent();
    const enqueued = await this.add(pending.job, earlier, priority);
    if (enqueued === 'refused') {
      if (existing === undefined) this.queue.release(job);
      return refused('redis');
    }
    // If Redis did not confirm the job, it is looked up, and queued again if missing, while its client waits.
    if (enqueued === 'queued') pending.markQueued();
    return undefined;
  }

  /** Adds a job, or makes sure that the earlier one under its key runs. */
  private add(job: NewJob, earlier: Exclude<Earlier, Known>, priority: number | undefined): Promise<EnqueueResult> {
    if (earlier.kind === 'unreadable') return this.queue.replace(earlier.existing, job);
    return earlier.kind === 'existing' ? this.queue.retry(job.id) : this.queue.add(job, priority);
  }

  /** Finds an earlier create with the same key. Asks MongoDB last: a job that has left the queue has its item there. */
  private async findByKey(id: string, { isSame, respondAsync }: FindOptions, withinMs: number): Promise<Earlier> {
    const finding = this.queue.find(id).then((existing) => existing ?? NOTHING);
    // A command that Redis does not respond to fails on its own soon afterwards, and its connection is closed.
    const existing = await settledWithin(2 * withinMs, finding);
    let job: Earlier = NOTHING;
    if (existing !== undefined && 'data' in existing)
      job =
        existing.requestHash === undefined
          ? { kind: 'unreadable', existing }
          : ifSame(isSame(existing.requestHash), { kind: 'existing', existing });
    // A queued job may hold another body than the stored item. Only a client that waits for the job would learn that.
    if (isOutcome(job) || (job.kind === 'existing' && !respondAsync)) return job;
    const stored = await this.findStored(id, isSame, performance.now() + withinMs).catch(() => undefined);
    if (stored !== undefined && isOutcome(stored)) return stored;
    if (existing === undefined) return { kind: 'no redis' };
    return stored === undefined ? { kind: 'no mongodb' } : job;
  }

  /** Finds the item of an earlier create. Reads it only for the same request: another one may be much smaller. */
  private async findStored(id: string, isSame: ProducerOptions['isSame'], deadline: number): Promise<Earlier> {
    const requestHash = await this.items.findRequestHash(id, deadline);
    if (requestHash === undefined) return NOTHING;
    const found = ifSame(isSame(requestHash), NOTHING);
    if (found !== NOTHING) return found;
    const stored = await this.items.findStoredById(id, deadline);
    if (stored === undefined) return NOTHING;
    return stored.item === undefined ? FAILED : { kind: 'created', item: stored.item, isReplay: true };
  }

  private async waitFor(pending: PendingCreate, options: ProducerOptions): Promise<ProducerOutcome> {
    const { deadline, queueBy, respondAsync, isKeyed, isSame, disconnected } = options;
    const outcome = await settledBy(deadline, pending.outcome, disconnected);
    const isOver = performance.now() >= deadline - TIMER_PRECISION_MS;
    this.metrics.countWait(pending.outcomeSource ?? (isOver ? 'deadline' : 'abandoned'));
    if (outcome?.kind === 'created')
      return ifSame(isSame(outcome.requestHash), { kind: 'created', item: outcome.item, isReplay: false });
    if (outcome === undefined && respondAsync) await settledBy(queueBy, pending.queued, disconnected);
    const accepted: ProducerOutcome = respondAsync && pending.isQueued ? { kind: 'queued' } : UNKNOWN;
    if (!isKeyed) return outcome ?? accepted;
    // If two bodies race for one key, the first one that was queued wins.
    const late = await this.findByKey(pending.job.id, options, respondAsync ? findMsUntil(queueBy) : LATE_FIND_MS);
    if (isOutcome(late)) {
      if (late.kind !== 'created') return late;
      // Stored by the job of this request, unless MongoDB did not respond when it was asked before.
      return accepted.kind === 'queued' ? accepted : { ...late, isReplay: false };
    }
    // The job may have been retried in the meantime.
    if (outcome !== undefined) return late.kind === 'existing' && !late.existing.hasFailed ? UNKNOWN : outcome;
    return late.kind === 'existing' ? accepted : UNKNOWN;
  }
}

/** Returns the time limit of a look-up that is to end by `queueBy`, if possible. It takes up to three times as long. */
function findMsUntil(queueBy: number): number {
  return Math.min(Math.max(LATE_FIND_MS, (queueBy - performance.now()) / 3), EARLY_FIND_MS);
}

type FindOptions = Pick<ProducerOptions, 'isSame' | 'respondAsync'>;

/** Returns a refusal after which the client may try again in a second. */
export function refused(reason: RefusalReason): Refusal {
  return { kind: 'refused', retryAfterS: 1, reason };
}

type Known = Extract<ProducerOutcome, { kind: 'created' | 'conflict' | 'failed' | 'unknown' }>;

/** What exists under a key. `no redis` and `no mongodb` mean that the store did not respond in time. */
type Earlier =
  Known | { kind: 'existing' | 'unreadable'; existing: ExistingJob } | { kind: 'nothing' | 'no redis' | 'no mongodb' };

const NOTHING: Earlier = { kind: 'nothing' };

function isOutcome(earlier: Earlier): earlier is Known {
  return 'isReplay' in earlier || [CONFLICT, FAILED, UNKNOWN].some(({ kind }) => kind === earlier.kind);
}

/** Returns `found` if it is of the same request, a conflict if not, and unknown if only a later version can tell. */
function ifSame<T>(isSame: boolean | undefined, found: T): T | Known {
  if (isSame === undefined) return UNKNOWN;
  return isSame ? found : CONFLICT;
}
