import { TtlCache } from '@app/runtime';
import { ApiError } from '../http/api-error.js';
import { networkOf } from '../http/network-of.js';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 20;
/** Limits the memory that an attacker with many addresses can use. */
const MAX_ADDRESSES = 50_000;

/** Limits how many invalid credentials an address may send. */
export class FailedAttempts {
  private readonly failures = new TtlCache<string, { count: number }>({ forMs: WINDOW_MS, count: MAX_ADDRESSES });

  /** @throws ApiError 429 if an address has sent too many */
  check(address: string): void {
    const failures = this.failures.get(networkOf(address));
    if (failures === undefined || failures.count < MAX_FAILURES) return;
    throw new ApiError('TOO_MANY_REQUESTS', {
      message: 'Too many invalid credentials from this address',
      headers: { 'Retry-After': String(WINDOW_MS / 1000) },
    });
  }

  add(address: string): void {
    this.failures.getOrSet(networkOf(address), () => ({ count: 0 })).count++;
  }
}
