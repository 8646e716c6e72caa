import cors from 'cors';
import type { ApiResponse } from '../api-message.js';

/** The response headers that scripts of other origins may read. */
const EXPOSED = [
  'X-Request-Id',
  'Next-After',
  'Idempotency-Replayed',
  'Preference-Applied',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'Allow',
  'WWW-Authenticate',
];
/** Chromium's limit: https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Access-Control-Max-Age */
const MAX_AGE_S = 7200;

/** Sets the CORS headers of a response, including errors and preflights. */
export type CrossOrigin = (response: ApiResponse) => void;

/** Allows these origins, if any. Credentials are never allowed, because the service reads no cookies. */
export function crossOrigin(origins: string[]): CrossOrigin {
  if (origins.length === 0) return () => undefined;
  const middleware = cors({
    origin: origins,
    methods: ['GET', 'HEAD', 'POST'],
    exposedHeaders: EXPOSED,
    maxAge: MAX_AGE_S,
    // The request listener responds to a preflight as to any OPTIONS: 204 on a path that exists.
    preflightContinue: true,
  });
  return (response) => {
    middleware(response.req, response, () => undefined);
  };
}
