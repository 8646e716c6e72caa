import ipaddr from 'ipaddr.js';
import { TtlCache } from '@app/runtime';
import { ApiError } from '../http/api-error.js';

const WINDOW_MS = 60_000;
const MAX_FAILURES = 20;
/** Limits the memory that an attacker with many addresses can use. */
const MAX_ADDRESSES = 50_000;
/** The groups of an IPv6 address that identify a customer's network: /64. */
const NETWORK_GROUPS = 4;

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

/** Returns an IPv4 address, or the network of an IPv6 address: a customer usually has all addresses of a /64. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(':');
}
