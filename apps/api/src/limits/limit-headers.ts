import type { Quota } from '@app/runtime';
import { ApiError } from '../http/api-error.js';
import type { Policy } from './policy.js';
import type { Taken } from './quota-limiter.js';

// The fields of https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-11.

/** Returns the item of `RateLimit-Policy` for a quota. */
export function policyItem({ name, quota: { count, seconds } }: { name: Policy['name']; quota: Quota }): string {
  const unit = name === 'bytes' ? ';qu="content-bytes"' : '';
  return `"${name}";q=${String(count)}${unit};w=${String(seconds)}`;
}

/** Returns the item of `RateLimit-Policy` for requests at the same time. */
export function concurrencyItem(limit: number): string {
  return `"concurrent";q=${String(limit)};qu="concurrent-requests"`;
}

/** Returns the item of `RateLimit` for what is left of a quota. */
export function limitItem(name: Policy['name'], { left, until }: Taken): string {
  return `"${name}";r=${String(left)};t=${String(secondsUntil(until))}`;
}

/** Returns the error for a caller that has used up a quota. */
export function quotaExceeded({ name, quota: { count, seconds } }: Policy, { until }: Taken): ApiError {
  const what = name === 'bytes' ? 'bytes' : `requests for ${name}`;
  return new ApiError('TOO_MANY_REQUESTS', {
    message: `Too many ${what}: at most ${String(count)} in ${String(seconds)} s`,
    headers: { 'Retry-After': String(secondsUntil(until)) },
  });
}

/** Returns the error for a caller that sends too many requests at the same time. */
export function concurrencyExceeded(limit: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: `Too many requests at the same time: at most ${String(limit)}`,
    headers: { 'Retry-After': '1' },
  });
}

/** Rounds up, so that a client that waits this long does not retry too early. */
function secondsUntil(time: number): number {
  return Math.max(1, Math.ceil((time - performance.now()) / 1000));
}
