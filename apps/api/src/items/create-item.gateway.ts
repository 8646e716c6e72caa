import type { CreateJob, CreateOutcome } from '@app/contracts';
import { toSitelessItem, type ItemRepository } from '@app/database';
import type { CreateQueue, ReplySubscriber } from '@app/queue';

/** What the gateway adds to a job itself is left out. */
export type CreateRequest = Omit<CreateJob, 'version' | 'replyTo'>;

/**
 * What became of a create. `refused`: certainly nothing was queued. `unknown`: it may be queued, or
 * even stored, but nobody said so in time.
 */
export type GatewayOutcome = CreateOutcome | { kind: 'refused' } | { kind: 'unknown' };

interface Waiter {
  since: number;
  settle: (outcome: GatewayOutcome) => void;
}

/** A waiter is looked up in MongoDB from this age on, in case its reply was lost. */
const LOOK_UP_AFTER_MS = 500;
const LOOK_UP_EVERY_MS = 250;

/** Queues one create and waits for its outcome: the only producer of create jobs. */
export class CreateItemGateway {
  private readonly waiters = new Map<string, Waiter>();
  private readonly lookUpTimer: NodeJS.Timeout;
  private isLookingUp = false;

  constructor(
    private readonly queue: CreateQueue,
    private readonly replies: ReplySubscriber,
    private readonly items: ItemRepository,
    private readonly config: { createWaitMs: number },
  ) {
    replies.listen(({ id, outcome }) => this.waiters.get(id)?.settle(outcome));
    this.lookUpTimer = setInterval(() => void this.lookUpLateOnes(), LOOK_UP_EVERY_MS);
  }

  /** Settles within `createWaitMs`; never throws for what the stores or the worker do. */
  async create(request: CreateRequest): Promise<GatewayOutcome> {
    // Waiting begins before the job is queued: a fast worker's reply may overtake the answer of Redis.
    const outcome = this.waitFor(request.id);
    const enqueued = await this.queue.add({ ...request, replyTo: this.replies.channel });
    if (enqueued !== 'queued') this.waiters.get(request.id)?.settle({ kind: enqueued });
    return outcome;
  }

  /** Settles all that still wait as `unknown`: the process is about to end. */
  abandon(): void {
    for (const { settle } of this.waiters.values()) settle({ kind: 'unknown' });
  }

  close(): void {
    clearInterval(this.lookUpTimer);
  }

  private waitFor(id: string): Promise<GatewayOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: GatewayOutcome): void => {
        clearTimeout(deadline);
        this.waiters.delete(id);
        resolve(outcome);
      };
      const deadline = setTimeout(settle, this.config.createWaitMs, { kind: 'unknown' });
      this.waiters.set(id, { since: Date.now(), settle });
    });
  }

  /** Replies are only an accelerator: what is stored, or has failed, counts. */
  private async lookUpLateOnes(): Promise<void> {
    const lateSince = Date.now() - LOOK_UP_AFTER_MS;
    const ids = [...this.waiters].filter(([, { since }]) => since <= lateSince).map(([id]) => id);
    if (ids.length === 0 || this.isLookingUp) return;
    this.isLookingUp = true;
    // Either store may be away: the waiters then wait on.
    await Promise.allSettled([this.lookUpStored(ids), this.lookUpFailed(ids)]);
    this.isLookingUp = false;
  }

  private async lookUpStored(ids: string[]): Promise<void> {
    const now = new Date();
    for (const record of await this.items.findStored(ids)) {
      const item = toSitelessItem(record, now);
      this.waiters.get(item.id)?.settle({ kind: 'created', item });
    }
  }

  private async lookUpFailed(ids: string[]): Promise<void> {
    for (const id of await this.queue.findFailed(ids)) this.waiters.get(id)?.settle({ kind: 'failed' });
  }
}
