import { EXPIRED, Limiter, TtlCache } from '@app/runtime';
import { ApiError } from '../http/api-error.js';
import { networkOf } from '../http/headers/network-of.js';
import { InvalidCredential, UnknownKey } from './auth-errors.js';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 20;
/** How many attempts of an address run at the same time, and how long the others wait for their turn. */
const MAX_RUNNING = 4;
const WAIT_MS = 1000;
/** Limits the memory that an attacker with many addresses can use. */
const MAX_ADDRESSES = 50_000;

interface Attempts {
  /** Those that have failed or are running. */
  count: number;
  limiter: Limiter;
}

const TOO_MANY = new ApiError('TOO_MANY_REQUESTS', {
  message: 'Too many invalid credentials from this address',
  headers: { 'Retry-After': String(WINDOW_MS / 1000) },
});
const NOT_IN_TIME = new ApiError('SERVICE_UNAVAILABLE', {
  message: 'Credentials cannot be verified at the moment, nothing was created: try again',
  headers: { 'Retry-After': '1' },
});

/** Limits how many invalid credentials an address may send. */
export class FailedAttempts {
  private readonly attempts = new TtlCache<string, Attempts>({ forMs: WINDOW_MS, count: MAX_ADDRESSES });

  /**
   * Returns the result of `verify`, which waits if several credentials of the address are being verified.
   *
   * @throws ApiError 429 if the address has sent too many invalid ones, 503 if `verify` was not called in time, or what
   *   `verify` throws
   */
  async limit<T>(address: string, verify: () => Promise<T>): Promise<T> {
    const attempts = this.attempts.getOrSet(networkOf(address), () => ({
      count: 0,
      limiter: new Limiter(MAX_RUNNING),
    }));
    const limits = { deadline: performance.now() + WAIT_MS };
    const result = await attempts.limiter.run(() => attempt(attempts, verify), limits);
    if (result === EXPIRED) throw NOT_IN_TIME;
    return result;
  }
}

/** Counts an attempt before it ends, so that many at the same time do not exceed the limit. */
async function attempt<T>(attempts: Attempts, verify: () => Promise<T>): Promise<T> {
  if (attempts.count >= MAX_FAILURES) throw TOO_MANY;
  attempts.count++;
  try {
    const result = await verify();
    attempts.count--;
    return result;
  } catch (error) {
    if (!(error instanceof InvalidCredential) || error instanceof UnknownKey) attempts.count--;
    throw error;
  }
}
