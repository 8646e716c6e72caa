import type { Provider } from '@nestjs/common';
import type { Report } from '@app/queue';
import type { ApiConfig } from '@app/runtime';
import type { CallerAddress } from '../http/headers/caller-address.js';
import { RateLimits } from './rate-limits.js';

/** Returns what limits callers: nothing unless a limit is set. */
export function limitsProviders(
  { limits, queuePrefix, maxBodyBytes }: ApiConfig,
  callerAddress: CallerAddress,
  report: Report,
): Provider[] {
  if (limits === undefined) return [];
  const settings = { limits, queuePrefix, maxBodyBytes };
  const reportLimits: Report = (line) => {
    report(`Rate limits: ${line}`);
  };
  return [{ provide: RateLimits, useFactory: () => RateLimits.create(settings, callerAddress, reportLimits) }];
}
