import type { OnApplicationShutdown } from '@nestjs/common';
import type { Report } from '@app/queue';
import type { ApiRequest, ApiResponse } from '../http/api-message.js';
import type { CallerAddress } from '../http/headers/caller-address.js';
import { networkOf } from '../http/headers/network-of.js';
import type { Operation } from '../http/operation.js';
import { concurrencyExceeded, limitItem, quotaExceeded } from './limit-headers.js';
import { LimitsRedis } from './limits-redis.js';
import { createLimits, type LimitSettings, type OperationLimits } from './operation-limits.js';
import type { CallerKind } from './policy.js';

interface Caller {
  kind: CallerKind;
  id: string;
}

/** Limits what each caller may send: one that has authenticated, otherwise an address. */
export class RateLimits implements OnApplicationShutdown {
  private constructor(
    private readonly redis: LimitsRedis,
    private readonly callerAddress: CallerAddress,
    private readonly limits: Record<Operation, OperationLimits>,
  ) {}

  static async create(settings: LimitSettings, callerAddress: CallerAddress, report: Report): Promise<RateLimits> {
    const redis = new LimitsRedis(settings.limits.redisUrl, report);
    const limitsOf = (operation: Operation): Promise<OperationLimits> => createLimits(operation, settings, redis);
    return new RateLimits(redis, callerAddress, {
      create: await limitsOf('create'),
      getAll: await limitsOf('getAll'),
      getById: await limitsOf('getById'),
    });
  }

  /**
   * Counts a request, and sets the headers of its response. A request that has been counted is not counted again.
   *
   * @throws ApiError 429, or 503 for a create that cannot be counted
   */
  async check(operation: Operation, response: ApiResponse): Promise<void> {
    const { req: request } = response;
    const { policies, concurrency, policyHeader } = this.limits[operation];
    if (request.isCounted || isRejected(response) || policyHeader === '') return;
    request.isCounted = true;
    response.setHeader('RateLimit-Policy', policyHeader);
    const caller = this.callerOf(request);
    const mustBeCounted = operation === 'create';
    const limiter = concurrency?.[caller.kind];
    const isExceeded = limiter !== undefined && !(await limiter.enter(caller.id, response, mustBeCounted));
    if (isRejected(response)) return;
    if (isExceeded) throw concurrencyExceeded(limiter.limit);
    const items: string[] = [];
    for (const policy of policies) {
      const taken = await policy.limiters[caller.kind].take(caller.id, policy.unitsOf(request), mustBeCounted);
      if (isRejected(response)) return;
      items.push(limitItem(policy.name, taken));
      response.setHeader('RateLimit', items.join(', '));
      if (!taken.isGranted) throw quotaExceeded(policy, taken);
    }
  }

  /** Resolves once requests can be counted. */
  waitUntilReady(): Promise<void> {
    return this.redis.waitUntilReady();
  }

  /** Returns whether requests can be counted: whether Redis responds in time. */
  canCount(withinMs: number): Promise<boolean> {
    return this.redis.responds(withinMs);
  }

  onApplicationShutdown(): void {
    for (const { concurrency } of Object.values(this.limits))
      for (const limiter of Object.values(concurrency ?? {})) limiter.close();
    this.redis.disconnect();
  }

  private callerOf(request: ApiRequest): Caller {
    const { principal } = request;
    if (principal !== undefined) return { kind: 'principal', id: principal.id };
    return { kind: 'address', id: networkOf(this.callerAddress(request)) };
  }
}

/** Returns whether a request has been rejected meanwhile, because its client has disconnected or is too slow. */
function isRejected({ headersSent }: ApiResponse): boolean {
  return headersSent;
}
