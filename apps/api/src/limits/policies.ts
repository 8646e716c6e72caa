import type { IncomingMessage } from 'node:http';
import { keyPrefix } from '@app/queue';
import type { ApiConfig, LimitsConfig, Quota } from '@app/runtime';
import type { Operation } from '../http/operation.js';
import { ConcurrencyLimiter } from './concurrency-limiter.js';
import type { LimitsRedis } from './limits-redis.js';
import { QuotaLimiter } from './quota-limiter.js';
import { SharedCounter } from './shared-counter.js';

export type LimitSettings = Pick<ApiConfig, 'queuePrefix' | 'maxBodyBytes'> & { limits: LimitsConfig };

/** The limiters of the kinds of callers: apart, so that many addresses do not affect callers who have authenticated. */
type ByKind<Limiter> = Record<'principal' | 'address', Limiter>;

/** The kind of a caller. */
export type CallerKind = keyof ByKind<unknown>;

/** A quota that requests of an operation take from. */
export interface Policy {
  /** Its name for clients. */
  name: 'bytes' | Operation;
  quota: Quota;
  limiters: ByKind<QuotaLimiter>;
  /** Returns how much a request takes. */
  unitsOf: (request: IncomingMessage) => number;
}

/** Creates the policies of each operation. Those for bytes are shared by all operations. */
export async function createPolicies(
  settings: LimitSettings,
  redis: LimitsRedis,
): Promise<Record<Operation, Policy[]>> {
  const create = async (name: Policy['name'], unitsOf: Policy['unitsOf']): Promise<Policy[]> => {
    const quota = settings.limits[name];
    if (quota === undefined) return [];
    const counter = await SharedCounter.create(redis, limitPrefix(settings, name), quota);
    return [{ name, quota, limiters: byKind(() => new QuotaLimiter(quota, counter)), unitsOf }];
  };
  const bytes = await create('bytes', (request) => bytesOf(request, settings.maxBodyBytes));
  const policiesOf = async (name: Operation): Promise<Policy[]> => [...(await create(name, () => 1)), ...bytes];
  return {
    create: await policiesOf('create'),
    getAll: await policiesOf('getAll'),
    getById: await policiesOf('getById'),
  };
}

/** Creates the limiters of requests at the same time, of all operations. Returns undefined without such a limit. */
export function createConcurrencyLimiters(
  settings: LimitSettings,
  redis: LimitsRedis,
): ByKind<ConcurrencyLimiter> | undefined {
  const { concurrent } = settings.limits;
  if (concurrent === undefined) return undefined;
  return byKind(() => new ConcurrencyLimiter(concurrent, redis, limitPrefix(settings, 'concurrent')));
}

function byKind<Limiter>(create: () => Limiter): ByKind<Limiter> {
  return { principal: create(), address: create() };
}

/** Returns the beginning of keys: that of the queue's, so that the user of Redis may use these keys too. */
function limitPrefix({ queuePrefix }: LimitSettings, name: string): string {
  return `${keyPrefix(queuePrefix)}:limit:${name}`;
}

/** Returns the length of a body. One of unknown length counts as the longest, because it has not been read yet. */
function bytesOf({ headers }: IncomingMessage, maxBodyBytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBodyBytes;
  return Math.min(Number(headers['content-length'] ?? 0), maxBodyBytes);
}
