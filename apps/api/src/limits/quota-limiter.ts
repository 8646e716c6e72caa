import type { Quota } from '@app/runtime';
import { notCounted } from './limits-redis.js';
import { NewWindows } from './new-windows.js';
import type { Count, Counter } from './shared-counter.js';

/** The outcome of taking units. */
export interface Taken {
  isGranted: boolean;
  /** Units that are left for the caller, as far as this instance knows. */
  left: number;
  /** When the caller has all units again, in ms of `performance.now()`. */
  until: number;
}

/** What this instance may grant a caller. */
interface Allowance {
  /** Units that have been counted for all instances, and that this one has not granted yet. */
  units: number;
  /** Units that no instance had taken when they were last counted. */
  left: number;
  /** Units that this instance has granted in this window. */
  granted: number;
  /** When the window ends, in ms of `performance.now()`. */
  until: number;
  /** Whether the units are those of this instance alone, because the count is unavailable. */
  isLocal: boolean;
  /** Units that this instance has granted while the count was unavailable. */
  uncounted: number;
}

/** The allowance of a caller, with the renewal that is in progress. */
type Refillable = Allowance & { refilling?: Promise<void> | undefined };

/** At most this part of what is left is counted in advance. */
const MAX_ADVANCE = 1 / 20;
/** Limits the memory that an attacker with many addresses can use in this process. */
const MAX_RECENT = 10_000;

/**
 * Limits what each caller may take in a window, over all instances. An instance counts some units of a caller in
 * advance, so that most requests need no reply from the counter. Only units that are not counted can exceed the limit.
 * Units that an instance has counted but does not grant are lost for others: fewer than it has granted, and at most a
 * twentieth of the limit.
 */
export class QuotaLimiter {
  /** The callers that were seen last. Those of {@link earlier} are forgotten once there are as many others. */
  private recent = new Map<string, Refillable>();
  private earlier = new Map<string, Refillable>();
  private readonly windowMs: number;
  private readonly newWindows: NewWindows;

  constructor(
    readonly quota: Quota,
    private readonly counter: Counter,
  ) {
    this.windowMs = quota.seconds * 1000;
    this.newWindows = new NewWindows(this.windowMs);
  }

  /**
   * Takes units of a caller, unless fewer are left. While the count is unavailable, each instance applies the limit by
   * itself.
   *
   * @param mustBeCounted throws in this case
   * @throws ApiError 503
   */
  async take(caller: string, units: number, mustBeCounted: boolean): Promise<Taken> {
    const allowance = this.allowanceOf(caller);
    while (!this.isCurrent(allowance) || isRefillNeeded(allowance, units)) {
      allowance.refilling ??= this.refill(caller, allowance, units).finally(() => (allowance.refilling = undefined));
      await allowance.refilling;
    }
    if (allowance.isLocal && mustBeCounted) throw notCounted();
    const isGranted = allowance.units >= units;
    if (isGranted) {
      allowance.units -= units;
      allowance.granted += units;
      if (allowance.isLocal) allowance.uncounted += units;
    }
    return { isGranted, left: allowance.units + allowance.left, until: allowance.until };
  }

  /** Local units are current only as long as the counter is unavailable. */
  private isCurrent(allowance: Allowance): boolean {
    return !isOver(allowance) && (!allowance.isLocal || this.counter.isUnavailable);
  }

  private allowanceOf(caller: string): Refillable {
    const found = this.recent.get(caller);
    if (found !== undefined) return found;
    const allowance: Refillable = this.earlier.get(caller) ?? { ...NOTHING };
    if (this.recent.size >= MAX_RECENT) [this.earlier, this.recent] = [this.recent, new Map<string, Refillable>()];
    this.recent.set(caller, allowance);
    return allowance;
  }

  private async refill(caller: string, allowance: Allowance, needed: number): Promise<void> {
    const isUncounted = allowance.isLocal || isOver(allowance);
    if (isUncounted && !this.newWindows.add()) Object.assign(allowance, this.localWindow(allowance));
    else {
      const asked = this.unitsToCount(isOver(allowance) ? this.newWindow() : allowance, needed);
      const counted = await this.counter.add(caller, asked);
      if (counted !== undefined) Object.assign(allowance, this.countedWindow(allowance, asked, counted));
      // Units that were granted without a count are not granted again.
      else if (!allowance.isLocal || isOver(allowance))
        Object.assign(allowance, this.localWindow(allowance), { isLocal: true });
    }
  }

  /**
   * Returns the units that are needed, or more in advance: as many as have been granted, but few of those left. Those
   * that were granted without a count are counted now.
   */
  private unitsToCount({ units, left, granted, isLocal, uncounted }: Allowance, needed: number): number {
    if (isLocal) return uncounted + needed;
    return Math.max(needed - units, Math.min(granted, Math.ceil(left * MAX_ADVANCE)), 1);
  }

  private countedWindow(previous: Allowance, asked: number, { total, until }: Count): Allowance {
    const { count } = this.quota;
    const { units, granted, isLocal, uncounted } = isOver(previous) ? NOTHING : previous;
    const added = Math.max(0, Math.min(asked, count - (total - asked)));
    const left = Math.max(0, count - total);
    return {
      ...NOTHING,
      units: isLocal ? Math.max(0, added - uncounted) : units + added,
      left,
      granted,
      until,
    };
  }

  private newWindow(): Allowance {
    return { ...NOTHING, left: this.quota.count };
  }

  /** Returns the window of a caller whose units only this instance counts: all that were left when last counted. */
  private localWindow(previous: Allowance): Allowance {
    if (isOver(previous)) return { ...NOTHING, units: this.quota.count, until: performance.now() + this.windowMs };
    const { units, left, granted, until } = previous;
    return { ...NOTHING, units: units + left, granted, until };
  }
}

function isOver({ until }: Allowance): boolean {
  return until <= performance.now();
}

const NOTHING: Allowance = {
  units: 0,
  left: 0,
  granted: 0,
  until: 0,
  isLocal: false,
  uncounted: 0,
};

function isRefillNeeded({ units, left }: Allowance, needed: number): boolean {
  return units < needed && units + left >= needed;
}
