import type { MalformedItem } from '@app/database';
import type { Logger } from '@app/runtime';
import { Counter, type Registry } from 'prom-client';

/** Ids that are remembered. Beyond them all are forgotten, and logged again. */
const MAX_LOGGED = 1000;

/** Reports documents that cannot be an Item: each is logged once, and counted whenever it is left out. */
export class MalformedItems {
  private readonly logged = new Set<string>();
  private readonly counter: Counter;

  constructor(
    registry: Registry,
    private readonly logger: Logger,
  ) {
    this.counter = new Counter({
      name: 'item_listing_malformed_items_total',
      help: 'Documents that cannot be an Item, each time one was left out of an answer',
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
