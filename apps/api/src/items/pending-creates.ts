import type { CreateOutcome } from '@app/contracts';
import type { ItemRepository } from '@app/database';
import type { ItemSize } from '@app/items';
import type { CreateQueue, NewJob } from '@app/queue';

/** Beyond these many waiting requests, or bytes of their items on the heap, the process refuses creates rather than grow. */
const MAX_WAITING = 10_000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const LOOK_UP_EVERY_MS = 250;
/** From this age on MongoDB is asked: a reply may have been lost. */
const LOOK_UP_AFTER_MS = 500;
/** From this age on a job that Redis has lost is queued again. */
const ADD_AGAIN_AFTER_MS = 2500;
/** Ids in one look-up, and jobs that are queued again at the same time. */
const LOOK_UP_AT_ONCE = 100;

/** A create that clients of this process wait for; equal ones under one key wait together. */
export class PendingCreate {
  /** Settles with the outcome once it is known; with undefined when no client waits any more or the process is about to end. */
  readonly outcome: Promise<CreateOutcome | undefined>;
  /** Settles once Redis holds, or has held, the job, or the outcome is known. */
  readonly queued: Promise<void>;
  isQueued = false;
  isSettled = false;
  /** How many clients wait. */
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

  /** Runs `queue` once for all clients that wait for this create. */
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

  /** The job is being sent to Redis, which may never confirm it. */
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

  wasSentBefore(ms: number): boolean {
    return performance.now() - this.sentAt >= ms;
  }
}

/**
 * The creates that clients of this process wait for. Replies are only an accelerator: what is stored, or has failed,
 * counts, and is looked up for those that wait long.
 */
export class PendingCreates {
  private readonly pending = new Map<string, PendingCreate[]>();
  private readonly timer = setInterval(() => void this.lookUp(), LOOK_UP_EVERY_MS);
  private waiting = 0;
  private bytes = 0;
  private isLookingUp = false;

  constructor(
    private readonly queue: CreateQueue,
    private readonly items: ItemRepository,
  ) {}

  /** Begins to wait, until `leave`; undefined when too many wait already. */
  join(job: NewJob, size: ItemSize): PendingCreate | undefined {
    if (this.waiting >= MAX_WAITING || this.bytes + size.heapBytes > MAX_WAITING_BYTES) return undefined;
    const sameId = this.pending.get(job.id) ?? [];
    let create = sameId.find((other) => other.job.requestHash === job.requestHash);
    if (create === undefined) {
      create = new PendingCreate(job, size);
      this.pending.set(job.id, [...sameId, create]);
    }
    create.waiting++;
    this.waiting++;
    this.bytes += size.heapBytes;
    return create;
  }

  leave(create: PendingCreate): void {
    this.waiting--;
    this.bytes -= create.size.heapBytes;
    if (--create.waiting > 0) return;
    create.settle(undefined);
    const others = (this.pending.get(create.job.id) ?? []).filter((other) => other !== create);
    if (others.length > 0) this.pending.set(create.job.id, others);
    else this.pending.delete(create.job.id);
  }

  settle(id: string, outcome: CreateOutcome): void {
    for (const create of this.pending.get(id) ?? []) create.settle(outcome);
  }

  /** Settles all, without an outcome. */
  abandon(): void {
    for (const create of [...this.pending.values()].flat()) create.settle(undefined);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async lookUp(): Promise<void> {
    const late = [...this.pending.values()].flat().filter((create) => create.wasSentBefore(LOOK_UP_AFTER_MS));
    if (late.length === 0 || this.isLookingUp) return;
    this.isLookingUp = true;
    this.queue.backlog.state().catch(() => undefined);
    try {
      for (let start = 0; start < late.length; start += LOOK_UP_AT_ONCE)
        await this.lookUpSome(late.slice(start, start + LOOK_UP_AT_ONCE).filter(({ isSettled }) => !isSettled));
    } catch {
      // MongoDB is away, and the others would wait for it as well: they are looked up the next time.
    }
    this.isLookingUp = false;
  }

  /** Asks MongoDB last: the item of a job that has left the queue is there. Goes on while Redis is away. */
  private async lookUpSome(creates: PendingCreate[]): Promise<void> {
    const missing = await this.lookUpQueued(creates).catch(() => []);
    await this.lookUpStored([...new Set(creates.map(({ job }) => job.id))]);
    await this.addAgain(missing);
  }

  private async lookUpStored(ids: string[]): Promise<void> {
    for (const { id, requestHash, item } of await this.items.findStored(ids))
      this.settle(id, item === undefined ? { kind: 'failed' } : { kind: 'created', item, requestHash });
  }

  /** Settles those that have failed; returns those that Redis has lost or never confirmed. */
  private async lookUpQueued(creates: PendingCreate[]): Promise<PendingCreate[]> {
    const states = await this.queue.findStates(creates.map(({ job }) => job.id));
    return creates.filter((create, index) => {
      if (states[index] === 'failed') this.settle(create.job.id, { kind: 'failed' });
      if (states[index] === 'open') create.markQueued();
      return states[index] === 'missing' && (!create.isQueued || create.wasSentBefore(ADD_AGAIN_AFTER_MS));
    });
  }

  private async addAgain(creates: PendingCreate[]): Promise<void> {
    const adding = creates
      .filter(({ isSettled }) => !isSettled)
      .map(async (create) => {
        create.markSent();
        if ((await this.queue.add(create.job)) === 'queued') create.markQueued();
      });
    await Promise.all(adding);
  }
}
