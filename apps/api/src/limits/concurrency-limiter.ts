import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { callerDigest } from '@app/queue';
import type { ApiResponse } from '../http/api-message.js';
import { notCounted, type LimitsRedis } from './limits-redis.js';

/** The slots of a caller in this instance. A request occupies one until its response is closed. */
interface Slots {
  /** Those that are occupied. */
  used: number;
  /** The most that were occupied at the same time since they were last checked. */
  peak: number;
  /** Requests that wait for one. */
  waiting: number;
  /** Those that this instance has reserved in Redis, or all if it limits the caller by itself. */
  reserved: number;
  /** Whether slots are reserved in Redis: not beyond {@link MAX_CALLERS}. */
  hasKey: boolean;
  /** Whether this instance limits the caller by itself because Redis is unavailable. */
  isLocal: boolean;
  /** Whether free ones stay reserved for a moment, because the caller is far from its limit. */
  areKept: boolean;
  /** When the reservation is renewed, in ms of `performance.now()`. */
  renewAt: number;
  /** A reservation that is in progress. */
  reserving?: Promise<void> | undefined;
}

/** Limits the keys in Redis that an attacker with many addresses can create. */
export const MAX_CALLERS = 10_000;
const RENEW_MS = 1000;
/** A reservation that is not renewed, because its instance has died, ends after this time. */
const EXPIRE_MS = 3000;
/** How often slots are checked. Those that are kept are returned if they were not needed between two checks. */
const CHECK_MS = 10;
/** A caller that uses at most this part of its limit keeps free slots, so that most requests do not ask Redis. */
const KEPT_PART = 1 / 2;
/**
 * The most times that a request asks for a slot, because the instances that have handled earlier requests of its caller
 * may not have returned theirs yet. A short time limit would refuse callers within their limit while the process is
 * busy.
 */
const ATTEMPTS = 10;
/** A request waits no longer than this while Redis is slow, except for the last reply. */
const WAIT_MS = 1000;
/** A caller at its limit asks Redis no more often than this, however many of its requests wait. */
const PAUSE_MS = 5;

/**
 * Limits how many requests of each caller all instances handle at the same time. An instance reserves slots in Redis,
 * and returns those that are free: at once, or a moment later while the caller is far from its limit. While Redis is
 * unavailable, each instance applies the limit by itself.
 */
export class ConcurrencyLimiter {
  private readonly callers = new Map<string, Slots>();
  private readonly instance = randomUUID();
  private readonly timer = setInterval(() => {
    this.renew();
  }, CHECK_MS).unref();

  /** @param keyPrefix the beginning of all keys */
  constructor(
    readonly limit: number,
    private readonly redis: LimitsRedis,
    private readonly keyPrefix: string,
  ) {}

  /**
   * Counts a request until its response is closed. Returns false if it is one too many.
   *
   * @param mustBeCounted throws if Redis is unavailable
   * @throws ApiError 503
   */
  async enter(caller: string, response: ApiResponse, mustBeCounted: boolean): Promise<boolean> {
    const slots = this.slotsOf(caller);
    if (this.hasSlot(slots)) occupy(slots);
    else if (!(await this.waitForSlot(caller, slots))) return false;
    const leave = (): void => {
      slots.used--;
      this.returnFree(caller, slots);
    };
    // A response that is closed already would be counted forever.
    if (response.closed || response.req.socket.destroyed) leave();
    else response.once('close', leave);
    if (slots.isLocal && mustBeCounted) throw notCounted();
    return true;
  }

  close(): void {
    clearInterval(this.timer);
  }

  private slotsOf(caller: string): Slots {
    const found = this.callers.get(caller);
    if (found !== undefined) return found;
    const slots = this.callers.size < MAX_CALLERS ? { ...NO_SLOTS } : { ...NO_SLOTS, ...NO_KEY, reserved: this.limit };
    this.callers.set(caller, slots);
    return slots;
  }

  /** Returns whether a request can begin. */
  private hasSlot({ used, reserved, isLocal }: Slots): boolean {
    return used < reserved && (!isLocal || this.redis.isUnavailable);
  }

  /** Reserves a slot and occupies it. Returns false if there is none. */
  private async waitForSlot(caller: string, slots: Slots): Promise<boolean> {
    const waitUntil = performance.now() + WAIT_MS;
    slots.waiting++;
    try {
      for (let attempts = 0; !this.hasSlot(slots); attempts++) {
        if (!slots.hasKey || attempts === ATTEMPTS || performance.now() >= waitUntil) return false;
        await this.reserve(caller, slots);
      }
      occupy(slots);
      return true;
    } finally {
      slots.waiting--;
    }
  }

  private returnFree(caller: string, slots: Slots): void {
    if (!slots.areKept && hasUnneeded(slots)) void this.reserve(caller, slots);
  }

  private reserve(caller: string, slots: Slots): Promise<void> {
    slots.reserving ??= this.ask(caller, slots).finally(() => {
      slots.reserving = undefined;
      this.returnFree(caller, slots);
    });
    return slots.reserving;
  }

  private async ask(caller: string, slots: Slots): Promise<void> {
    const { waiting } = slots;
    const kept = keptOf(slots);
    // Free slots that are being returned are not occupied.
    slots.reserved = Math.min(slots.reserved, kept + waiting);
    slots.renewAt = performance.now() + RENEW_MS;
    const key = `${this.keyPrefix}:${callerDigest(caller)}`;
    const reply = await this.redis.send(key, (redis) =>
      redis.eval(RESERVE, 1, key, this.instance, kept, waiting, this.limit, EXPIRE_MS),
    );
    if (reply === undefined) Object.assign(slots, { isLocal: true, areKept: true, reserved: this.limit });
    else {
      const [reserved, others] = reply as [number, number];
      const areKept = reserved + others <= this.limit * KEPT_PART;
      Object.assign(slots, { isLocal: false, areKept, reserved });
    }
    if (slots.reserved < kept + waiting) await delay(PAUSE_MS);
  }

  /**
   * Renews the reservations of requests that take long, and returns slots that were not needed lately. Forgets callers
   * that have no slots.
   */
  private renew(): void {
    const now = performance.now();
    for (const [caller, slots] of this.callers) {
      const canReserve = slots.hasKey && !this.redis.isUnavailable;
      if (canReserve && (hasUnneeded(slots) || now >= slots.renewAt)) void this.reserve(caller, slots);
      // A caller that has been forgotten could begin a second reservation, which the end of the first would overwrite.
      else if (slots.reserving === undefined && isIdle(slots) && !(canReserve && slots.reserved > 0))
        this.callers.delete(caller);
      slots.peak = slots.used;
    }
  }
}

function occupy(slots: Slots): void {
  slots.used++;
  slots.peak = Math.max(slots.peak, slots.used);
}

/** Returns how many slots stay reserved: those that are occupied or, far from the limit, that were lately. */
function keptOf({ used, peak, reserved, areKept }: Slots): number {
  return areKept ? Math.max(used, Math.min(peak, reserved)) : used;
}

function hasUnneeded(slots: Slots): boolean {
  return slots.reserved > keptOf(slots) + slots.waiting;
}

function isIdle({ used, waiting }: Slots): boolean {
  return used + waiting === 0;
}

const NO_SLOTS: Slots = {
  used: 0,
  peak: 0,
  waiting: 0,
  reserved: 0,
  hasKey: true,
  isLocal: false,
  areKept: false,
  renewAt: 0,
};
const NO_KEY = { hasKey: false, areKept: true };

/**
 * Reserves a slot for each request that waits, unless all instances together would have more than the limit. Returns
 * the slots of the instance and those of the others. The key is a hash that has for each instance its number of slots
 * and when they expire, in ms since 1970.
 */
const RESERVE = `
local instance, kept, waiting = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local limit, expire = tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local others = 0
local stored = redis.call('HGETALL', KEYS[1])
for i = 1, #stored, 2 do
  local slots, expiry = string.match(stored[i + 1], '^(%d+) (%d+)$')
  if stored[i] ~= instance then
    -- The clock of another Redis, or another program, may have set an expiry that is too late.
    if slots and tonumber(expiry) > now and tonumber(expiry) <= now + expire then others = others + tonumber(slots)
    else redis.call('HDEL', KEYS[1], stored[i]) end
  end
end

local reserved = kept + math.max(0, math.min(waiting, limit - others - kept))
if reserved == 0 then redis.call('HDEL', KEYS[1], instance)
else
  redis.call('HSET', KEYS[1], instance, string.format('%d %d', reserved, now + expire))
  redis.call('PEXPIRE', KEYS[1], expire)
end
return { reserved, others }
`;
