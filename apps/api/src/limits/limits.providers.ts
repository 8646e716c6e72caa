import type { Provider } from '@nestjs/common';
import type { ApiConfig } from '@app/runtime';
import type { CallerAddress } from '../http/caller-address.js';
import { RateLimits } from './rate-limits.js';

/** Returns what limits callers: nothing unless a limit is set. */
export function limitsProviders(
  { limits, queuePrefix, maxBodyBytes }: ApiConfig,
  callerAddress: CallerAddress,
  report: (line: string) => void,
): Provider[] {
  if (limits === undefined) return [];
  const settings = { limits, queuePrefix, maxBodyBytes };
  return [{ provide: RateLimits, useFactory: () => RateLimits.create(settings, callerAddress, report) }];
}
