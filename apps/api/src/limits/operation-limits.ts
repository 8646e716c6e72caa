import type { IncomingMessage } from 'node:http';
import { keyPrefix } from '@app/queue';
import type { ApiConfig, LimitsConfig } from '@app/runtime';
import type { Operation } from '../http/operation.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import { concurrencyItem, policyItem } from './limit-headers.js';
import type { LimitsRedis } from './limits-redis.js';
import type { ByKind, Policy } from './policy.js';
import { QuotaLimiter } from './quota-limiter.js';
import { SharedCounter } from './shared-counter.js';

export type LimitSettings = Pick<ApiConfig, 'queuePrefix' | 'maxBodyBytes'> & { limits: LimitsConfig };

/** The limits of one operation. */
export interface OperationLimits {
  policies: Policy[];
  /** The limiters of requests at the same time, if there is such a limit. */
  concurrency: ByKind<ConcurrencyLimiter> | undefined;
  /** The value of `RateLimit-Policy`. Empty if there are no limits. */
  policyHeader: string;
}

/** Creates the limits of an operation. */
export async function createLimits(
  operation: Operation,
  settings: LimitSettings,
  redis: LimitsRedis,
): Promise<OperationLimits> {
  const { limits, maxBodyBytes } = settings;
  const { concurrent } = limits;
  // Begins as the keys of the queue do, so that the user of Redis may use these keys too.
  const prefixOf = (what: string): string => `${keyPrefix(settings.queuePrefix)}:limit:${operation}:${what}`;
  const createPolicy = async (name: Policy['name'], unitsOf: Policy['unitsOf']): Promise<Policy[]> => {
    const quota = limits[name];
    if (quota === undefined) return [];
    // Includes the seconds: a longer window that is in progress would outlast those of this length.
    const prefix = prefixOf(`${name === operation ? 'requests' : name}:${String(quota.seconds)}`);
    const counter = await SharedCounter.create(redis, prefix, quota);
    return [{ name, quota, limiters: byKind(() => new QuotaLimiter(quota, counter)), unitsOf }];
  };
  const requests = await createPolicy(operation, () => 1);
  const bytes = await createPolicy('bytes', (request) => bytesOf(request, maxBodyBytes));
  const policies = [...requests, ...bytes];
  const items = policies.map(policyItem);
  if (concurrent === undefined) return { policies, concurrency: undefined, policyHeader: items.join(', ') };
  return {
    policies,
    concurrency: byKind(() => new ConcurrencyLimiter(concurrent, redis, prefixOf('concurrent'))),
    policyHeader: [...items, concurrencyItem(concurrent)].join(', '),
  };
}

function byKind<Limiter>(create: () => Limiter): ByKind<Limiter> {
  return { principal: create(), address: create() };
}

/** Returns the length of a body. One of unknown length counts as the longest, because it has not been read yet. */
function bytesOf({ headers }: IncomingMessage, maxBodyBytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBodyBytes;
  return Math.min(Number(headers['content-length'] ?? 0), maxBodyBytes);
}
