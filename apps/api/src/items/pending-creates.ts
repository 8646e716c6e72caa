import type { CreateOutcome } from '@app/contracts';
import type { ItemRepository } from '@app/database';
import type { ItemSize } from '@app/items';
import type { CreateQueue, NewJob } from '@app/queue';

const LOOK_UP_EVERY_MS = 250;
/** The age from which a create is looked up in the stores, because its reply may have been lost. */
const LOOK_UP_AFTER_MS = 500;
/** The age from which a job that Redis has lost is queued again. */
const ADD_AGAIN_AFTER_MS = 2500;
/** The most ids in one lookup, and the most jobs that are queued again concurrently. */
const LOOK_UP_BATCH = 100;
/** Limit of one lookup in MongoDB. */
const FIND_MS = 1000;

/** A create that clients of this process wait for. Equal requests under one key share it. */
export class PendingCreate {
  /** Resolves to the outcome, or to undefined once no client waits any more or the process is about to end. */
  readonly outcome: Promise<CreateOutcome | undefined>;
  /** Settles once it is known that the job is or was in Redis, or once `outcome` has settled. */
  readonly queued: Promise<void>;
  isQueued = false;
  isSettled = false;
  /** What the outcome was learned from. */
  outcomeSource: 'reply' | 'look-up' | undefined;
  /** How many clients wait for it. */
  waiting = 0;
  private resolve: (outcome: CreateOutcome | undefined) => void = () => undefined;
  private confirm: () => void = () => undefined;
  private sentAt = Infinity;
  private queueing: Promise<unknown> | undefined;

  constructor(
    readonly job: NewJob,
    readonly size: ItemSize,
  ) {
    this.outcome = new Promise((resolve) => (this.resolve = resolve));
    this.queued = new Promise((resolve) => (this.confirm = resolve));
  }

  /** Calls `queue` once for all clients that wait for this create. */
  queueOnce<T>(queue: () => Promise<T>): Promise<T> {
    this.queueing ??= queue();
    return this.queueing as Promise<T>;
  }

  settle(outcome: CreateOutcome | undefined): void {
    this.isSettled = true;
    this.isQueued ||= outcome !== undefined;
    this.confirm();
    this.resolve(outcome);
  }

  /** Records that the job is being sent to Redis, which may never confirm it. */
  markSent(): void {
    this.sentAt = performance.now();
  }

  /** Whether the job is, or may be, in the queue or stored. */
  get isSent(): boolean {
    return this.isQueued || this.sentAt < Infinity;
  }

  markQueued(): void {
    this.isQueued = true;
    this.confirm();
  }

  /** Returns whether the job was sent at least this long ago. */
  isOlderThan(ms: number): boolean {
    return performance.now() - this.sentAt >= ms;
  }
}

/**
 * The creates that clients of this process wait for. Replies only make them faster: the stores are authoritative, and
 * creates that wait long are looked up there.
 */
export class PendingCreates {
  private readonly pending = new Map<string, PendingCreate[]>();
  private isLookingUp = false;
  private isAbandoned = false;

  constructor(
    private readonly queue: CreateQueue,
    private readonly items: ItemRepository,
  ) {
    setInterval(() => void this.lookUp(), LOOK_UP_EVERY_MS).unref();
  }

  /** Adds a client that waits until `leave`. Returns undefined if the process is about to end. */
  join(job: NewJob, size: ItemSize): PendingCreate | undefined {
    if (this.isAbandoned) return undefined;
    const sameId = this.pending.get(job.id) ?? [];
    let create = sameId.find((other) => other.job.requestHash === job.requestHash);
    if (create === undefined) {
      create = new PendingCreate(job, size);
      this.pending.set(job.id, [...sameId, create]);
    }
    create.waiting++;
    return create;
  }

  leave(create: PendingCreate): void {
    if (--create.waiting > 0) return;
    create.settle(undefined);
    const others = (this.pending.get(create.job.id) ?? []).filter((other) => other !== create);
    if (others.length > 0) this.pending.set(create.job.id, others);
    else this.pending.delete(create.job.id);
  }

  settle(id: string, outcome: CreateOutcome, by: PendingCreate['outcomeSource']): void {
    for (const create of this.pending.get(id) ?? []) {
      create.outcomeSource ??= by;
      create.settle(outcome);
    }
  }

  /** Settles all creates without an outcome, and accepts no more. */
  abandon(): void {
    this.isAbandoned = true;
    for (const create of [...this.pending.values()].flat()) create.settle(undefined);
  }

  private async lookUp(): Promise<void> {
    const late = [...this.pending.values()].flat().filter((create) => create.isOlderThan(LOOK_UP_AFTER_MS));
    if (late.length === 0 || this.isLookingUp) return;
    this.isLookingUp = true;
    this.queue.backlog.state().catch(() => undefined);
    try {
      for (let start = 0; start < late.length; start += LOOK_UP_BATCH)
        await this.lookUpSome(late.slice(start, start + LOOK_UP_BATCH).filter(({ isSettled }) => !isSettled));
    } catch {
      // A store is unavailable, and the other batches would wait for it as well. They are looked up next time.
    }
    this.isLookingUp = false;
  }

  /** Asks MongoDB last, because a job that has left the queue has its item there. Asks even if Redis is unavailable. */
  private async lookUpSome(creates: PendingCreate[]): Promise<void> {
    const missing = await this.lookUpQueued(creates).catch(() => []);
    await this.lookUpStored([...new Set(creates.map(({ job }) => job.id))]);
    await this.addAgain(missing);
  }

  private async lookUpStored(ids: string[]): Promise<void> {
    for (const { id, requestHash, item } of await this.items.findStored(ids, performance.now() + FIND_MS))
      this.settle(id, item === undefined ? { kind: 'failed' } : { kind: 'created', item, requestHash }, 'look-up');
  }

  /** Settles failed creates, and returns those whose job Redis has lost or never confirmed. */
  private async lookUpQueued(creates: PendingCreate[]): Promise<PendingCreate[]> {
    const states = await this.queue.findStates(creates.map(({ job }) => job.id));
    const unconfirmed = creates.filter(({ isQueued }, index) => states[index] === 'open' && !isQueued);
    const lost = new Set(await this.queue.findLost(unconfirmed.map(({ job }) => job.id)));
    return creates.filter((create, index) => {
      if (states[index] === 'failed') this.settle(create.job.id, { kind: 'failed' }, 'look-up');
      if (lost.has(create.job.id)) return true;
      if (states[index] === 'open') create.markQueued();
      return states[index] === 'missing' && (!create.isQueued || create.isOlderThan(ADD_AGAIN_AFTER_MS));
    });
  }

  private async addAgain(creates: PendingCreate[]): Promise<void> {
    const missing = creates.filter(({ isSettled }) => !isSettled);
    await Promise.all(missing.map((create) => this.addOneAgain(create)));
  }

  /** Queues a job at a new place, because Redis has lost its old one too. Does nothing while there is no room. */
  private async addOneAgain(create: PendingCreate): Promise<void> {
    create.markSent();
    const place = { sellerId: create.job.sellerId, bytes: create.size.bytes };
    const admission = await this.queue.admit({ ...place, waitMs: undefined });
    if (admission.kind === 'refused') return;
    const enqueued = await this.queue.addAgain(create.job, admission.priority);
    if (enqueued === 'queued') create.markQueued();
    if (enqueued === 'refused') this.queue.release(place);
  }
}
