import type { CreateOutcome, SitelessItem } from '@app/contracts';
import { toSitelessItem, type ItemRepository } from '@app/database';
import type { CreateQueue, Enqueued } from '@app/queue';

/** What became of a create. */
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

/** A create that clients of this process wait for; equal ones under one key wait together. */
export interface PendingCreate {
  readonly id: string;
  readonly requestHash: string;
  /** Settles when it is known what became of it; abandoned ones settle with undefined. */
  readonly outcome: Promise<CreateOutcome | undefined>;
  settle: (outcome: CreateOutcome | undefined) => void;
  /** How many wait. */
  waiting: number;
  /** Its way into the queue: undefined once the job is there, else why it is not. */
  enqueued?: Promise<GatewayOutcome | undefined>;
  /** When its job was queued or found in the queue; undefined before. */
  queuedAt?: number;
  /** Queues the job once more, which does nothing while it is there. */
  addAgain?: () => Promise<Enqueued>;
}

/** Beyond these many waiting requests the process refuses creates rather than grow. */
const MAX_WAITING = 10_000;
const LOOK_UP_EVERY_MS = 250;
/** From this age on MongoDB is asked: a reply may have been lost. */
const LOOK_UP_AFTER_MS = 500;
/** From this age on the job is queued again: Redis may have lost it. */
const ADD_AGAIN_AFTER_MS = 2500;

/**
 * The creates that are waited for. Replies are only an accelerator: what is stored, or has failed,
 * counts, and is looked up for those that wait long.
 */
export class PendingCreates {
  private readonly pending = new Map<string, PendingCreate[]>();
  private readonly timer = setInterval(() => void this.lookUp(), LOOK_UP_EVERY_MS);
  private waiting = 0;
  private isLookingUp = false;

  constructor(
    private readonly queue: CreateQueue,
    private readonly items: ItemRepository,
  ) {}

  /** Begins to wait, until `leave`; undefined when too many wait already. */
  join({ id, requestHash }: { id: string; requestHash: string }): PendingCreate | undefined {
    if (this.waiting >= MAX_WAITING) return undefined;
    const underId = this.pending.get(id) ?? [];
    let create = underId.find((other) => other.requestHash === requestHash);
    if (create === undefined) {
      create = newPending(id, requestHash);
      this.pending.set(id, [...underId, create]);
    }
    create.waiting++;
    this.waiting++;
    return create;
  }

  leave(create: PendingCreate): void {
    create.waiting--;
    this.waiting--;
    if (create.waiting > 0) return;
    const others = (this.pending.get(create.id) ?? []).filter((other) => other !== create);
    if (others.length > 0) this.pending.set(create.id, others);
    else this.pending.delete(create.id);
  }

  settle(id: string, outcome: CreateOutcome): void {
    for (const { settle } of this.pending.get(id) ?? []) settle(outcome);
  }

  /** Settles all, without an outcome. */
  abandon(): void {
    for (const { settle } of [...this.pending.values()].flat()) settle(undefined);
  }

  close(): void {
    clearInterval(this.timer);
  }

  private async lookUp(): Promise<void> {
    const late = this.queuedFor(LOOK_UP_AFTER_MS);
    if (late.length === 0 || this.isLookingUp) return;
    void this.queue.backlog.watch();
    this.isLookingUp = true;
    const ids = [...new Set(late.map(({ id }) => id))];
    // Either store may be away: they then wait on.
    await Promise.allSettled([this.lookUpStored(ids), this.lookUpFailed(ids)]);
    this.isLookingUp = false;
    for (const create of this.queuedFor(ADD_AGAIN_AFTER_MS)) void this.addAgain(create);
  }

  private queuedFor(ms: number): PendingCreate[] {
    const since = Date.now() - ms;
    return [...this.pending.values()].flat().filter(({ queuedAt = Infinity }) => queuedAt <= since);
  }

  private async lookUpStored(ids: string[]): Promise<void> {
    const now = new Date();
    for (const record of await this.items.findStored(ids)) {
      const item = toSitelessItem(record, now);
      this.settle(item.id, { kind: 'created', item, requestHash: record.requestHash });
    }
  }

  private async lookUpFailed(ids: string[]): Promise<void> {
    for (const id of await this.queue.findFailed(ids)) this.settle(id, { kind: 'failed' });
  }

  private async addAgain(create: PendingCreate): Promise<void> {
    create.queuedAt = Date.now();
    await create.addAgain?.();
  }
}

function newPending(id: string, requestHash: string): PendingCreate {
  let settle: PendingCreate['settle'] = () => undefined;
  const outcome = new Promise<CreateOutcome | undefined>((resolve) => {
    settle = resolve;
  });
  return { id, requestHash, outcome, settle, waiting: 0 };
}
