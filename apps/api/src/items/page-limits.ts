import { EXPIRED, Limiter, TimeoutError } from '@app/runtime';

/** How many expensive pages are read at the same time, so that getById and first pages stay fast. */
const EXPENSIVE_AT_ONCE = 2;
/**
 * The most items that are read at the same time for small pages, and for the other ones: as many as the largest page
 * has. Items may be large, and the event loop has to receive and serialize them. The limits are separate so that small
 * pages do not wait for large ones.
 */
const ITEMS_AT_ONCE = 100;
/**
 * The same, including late pages. Most of those take no memory yet, but all of them may arrive together, and a page of
 * large items may be late because it is large.
 */
const MAX_ITEMS = 200;
/** The most items of a small page. */
const SMALL_PAGE = 20;

/** What a page costs. */
interface PageCost {
  /** The most items of the page. */
  limit: number;
  /** Whether MongoDB may have to read much more than the page. */
  isExpensive: boolean;
}

/** Limits the pages that are read and serialized at the same time. The others wait in order of arrival. */
export class PageLimits {
  private readonly expensive = new Limiter(EXPENSIVE_AT_ONCE);
  private readonly large = new Limiter(ITEMS_AT_ONCE, MAX_ITEMS);
  private readonly small = new Limiter(ITEMS_AT_ONCE, MAX_ITEMS);

  /**
   * Runs `read` when the turn of its page comes, and returns its result.
   *
   * @param read calls `hold` when the page is in memory
   * @param deadline in ms of `performance.now()`
   * @throws TimeoutError if the turn does not come before the deadline
   */
  async run<T>({ limit, isExpensive }: PageCost, deadline: number, read: (hold: () => void) => Promise<T>): Promise<T> {
    const pages = limit <= SMALL_PAGE ? this.small : this.large;
    const result = await (isExpensive
      ? this.expensive.run(read, { deadline })
      : pages.run(read, { deadline, weight: limit }));
    if (result === EXPIRED) throw new TimeoutError('no turn in time');
    return result;
  }
}
