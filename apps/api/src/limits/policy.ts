import type { IncomingMessage } from 'node:http';
import type { Quota } from '@app/runtime';
import type { Operation } from '../http/operation.js';
import type { QuotaLimiter } from './quota-limiter.js';

/** The limiters of the kinds of callers: apart, so that many addresses do not affect callers who have authenticated. */
export type ByKind<Limiter> = Record<'principal' | 'address', Limiter>;

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
