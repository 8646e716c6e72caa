import cors from 'cors';
import type { ApiResponse } from './api-message.js';

/** What pages of other origins may read beside the body. */
const EXPOSED = ['X-Request-Id', 'Next-After', 'Idempotency-Replayed', 'Preference-Applied', 'Retry-After', 'Allow'];
/** Browsers do not believe it for longer. */
const MAX_AGE_S = 7200;

/** Sets what lets pages of other origins use an answer, errors and preflights included. */
export type CrossOrigin = (response: ApiResponse) => void;

/** CORS for these origins, or none at all; never with cookies, which nobody here reads. */
export function crossOrigin(origins: string[]): CrossOrigin {
  if (origins.length === 0) return () => undefined;
  const middleware = cors({
    origin: origins,
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: EXPOSED,
    maxAge: MAX_AGE_S,
    // A preflight is answered as any OPTIONS: 204 on a path that exists.
    preflightContinue: true,
  });
  return (response) => {
    middleware(response.req, response, () => undefined);
  };
}
