import type { MalformedItem } from '@app/database';
import type { Logger } from '@app/runtime';
import { Counter, type Registry } from 'prom-client';

/** The most ids to remember. Beyond that, all are forgotten and may be logged again. */
const MAX_LOGGED = 1000;

/** Reports documents that are not a valid Item. Logs each once, and counts each time it is left out of a response. */
export class MalformedItems {
  private readonly logged = new Set<string>();
  private readonly counter: Counter;

  constructor(
    registry: Registry,
    private readonly logger: Logger,
  ) {
    this.counter = new Counter({
      name: 'item_listing_malformed_items_total',
      help: 'Times that a document was left out of a response because it is not a valid Item',
      registers: [registry],
    });
  }

  readonly report = ({ id, field }: MalformedItem): void => {
    this.counter.inc();
    if (this.logged.has(id)) return;
    if (this.logged.size >= MAX_LOGGED) this.logged.clear();
    this.logged.add(id);
    this.logger.warn({ id, field }, 'malformed item left out');
  };
}
