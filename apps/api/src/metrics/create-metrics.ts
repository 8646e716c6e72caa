import { Counter, type Registry } from 'prom-client';

const OUTCOMES = ['stored', 'replayed', 'queued', 'conflict', 'failed', 'unknown'] as const;
const REASONS = [
  'jobs',
  'bytes',
  'memory',
  'seller',
  'stalled',
  'slow',
  'process',
  'redis',
  'mongodb',
  'time',
  'disconnected',
] as const;
const WAIT_ENDS = ['reply', 'look-up', 'deadline', 'abandoned'] as const;

/**
 * Why a create was refused: the queue is full or slow, too many creates of its seller wait, this process is full, a
 * store did not respond, it was too late, or its client has disconnected.
 */
export type RefusalReason = (typeof REASONS)[number];

/** How the wait for a queued create ended. */
export type WaitEnd = (typeof WAIT_ENDS)[number];

/** The parts of a create's outcome that are counted. */
export interface CountedOutcome {
  kind: string;
  isReplay?: boolean;
  reason?: RefusalReason;
}

/** Counts the outcomes of creates. */
export class CreateMetrics {
  private readonly outcomes: Counter<'outcome' | 'reason'>;
  private readonly waits: Counter<'end'>;

  constructor(registry: Registry) {
    this.outcomes = new Counter({
      name: 'item_listing_creates_total',
      help: 'Creates by outcome. The reason is empty unless the create was refused',
      labelNames: ['outcome', 'reason'],
      registers: [registry],
    });
    this.waits = new Counter({
      name: 'item_listing_create_waits_total',
      help: 'Waits for a queued create, by what ended them',
      labelNames: ['end'],
      registers: [registry],
    });
    // Prometheus does not see the first increase of a time series that does not exist before it.
    for (const outcome of OUTCOMES) this.outcomes.inc({ outcome, reason: '' }, 0);
    for (const reason of REASONS) this.outcomes.inc({ outcome: 'refused', reason }, 0);
    for (const end of WAIT_ENDS) this.waits.inc({ end }, 0);
  }

  countOutcome({ kind, isReplay = false, reason }: CountedOutcome): void {
    const stored = isReplay ? 'replayed' : 'stored';
    this.outcomes.inc({ outcome: kind === 'created' ? stored : kind, reason: reason ?? '' });
  }

  countWait(end: WaitEnd): void {
    this.waits.inc({ end });
  }
}
