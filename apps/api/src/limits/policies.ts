import type { IncomingMessage } from 'node:http';
import { keyPrefix, type RedisConnection, type Report } from '@app/queue';
import type { ApiConfig, LimitsConfig, Quota } from '@app/runtime';
import type { Operation } from '../http/operation.js';
import { QuotaLimiter } from './quota-limiter.js';
import { SharedCounter } from './shared-counter.js';

export type LimitSettings = Pick<ApiConfig, 'queuePrefix' | 'maxBodyBytes'> & { limits: LimitsConfig };

/** The kind of a caller. */
export type CallerKind = 'principal' | 'address';

/** A quota that requests of an operation take from. */
export interface Policy {
  /** Its name for clients. */
  name: 'bytes' | Operation;
  quota: Quota;
  /** Apart, so that many addresses do not affect callers who have authenticated. */
  limiters: Record<CallerKind, QuotaLimiter>;
  /** Returns how much a request takes. */
  unitsOf: (request: IncomingMessage) => number;
}

/** Creates the policies of each operation. Those for bytes are shared by all operations. */
export async function createPolicies(
  settings: LimitSettings,
  redis: RedisConnection,
  report: Report,
): Promise<Record<Operation, Policy[]>> {
  const create = async (name: Policy['name'], unitsOf: Policy['unitsOf']): Promise<Policy[]> => {
    const quota = settings.limits[name];
    if (quota === undefined) return [];
    // The prefix of the queue, so that the user of Redis may use these keys too.
    const prefix = `${keyPrefix(settings.queuePrefix)}:limit:${name}`;
    const counter = await SharedCounter.create(redis, { prefix, quota, report });
    const limiters = { principal: new QuotaLimiter(quota, counter), address: new QuotaLimiter(quota, counter) };
    return [{ name, quota, limiters, unitsOf }];
  };
  const bytes = await create('bytes', (request) => bytesOf(request, settings.maxBodyBytes));
  const policiesOf = async (name: Operation): Promise<Policy[]> => [...(await create(name, () => 1)), ...bytes];
  return {
    create: await policiesOf('create'),
    getAll: await policiesOf('getAll'),
    getById: await policiesOf('getById'),
  };
}

/** Returns the length of a body. One of unknown length counts as the longest, because it has not been read yet. */
function bytesOf({ headers }: IncomingMessage, maxBodyBytes: number): number {
  if (headers['transfer-encoding'] !== undefined) return maxBodyBytes;
  return Math.min(Number(headers['content-length'] ?? 0), maxBodyBytes);
}
