import { Counter, type Registry } from 'prom-client';

/** How the wait for a queued create ended. */
export type WaitEnd = 'reply' | 'look-up' | 'deadline' | 'abandoned';

/** The parts of a create's outcome that are counted. */
export interface CountedOutcome {
  kind: string;
  isReplay?: boolean;
  /** Why it was refused. */
  reason?: string;
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
  }

  countOutcome({ kind, isReplay = false, reason = '' }: CountedOutcome): void {
    const stored = isReplay ? 'replayed' : 'stored';
    this.outcomes.inc({ outcome: kind === 'created' ? stored : kind, reason });
  }

  countWait(end: WaitEnd): void {
    this.waits.inc({ end });
  }
}
