/**
 * OpenAPI 3.1 parameters, by component name. They have no examples, because the docs page would send them: all its
 * visitors would share one Idempotency-Key.
 */
export const PARAMETERS = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Id of this request in the logs of the service: up to 128 letters, digits and `.:+/=@_-`. If it is absent or ' +
      'malformed, the service generates one.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the create safe to repeat: the same key and body return the same item, for as long as it exists. Another body with the same ' +
      'key is a 422. 1 to 255 visible ASCII characters. Keys belong to their caller. While authentication is off, all callers share them, so use a UUID. A 4xx or 503 does not bind the key.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'RFC 7240. `respond-async`: 202 as soon as the create is queued. `respond-async, wait=N`: 200 if the item is stored within N ' +
      'seconds, otherwise 202. `wait=N`: waits at most N seconds. The default and the maximum are 10, unless the service is configured otherwise. Malformed and unknown preferences are ignored.',
    schema: { type: 'string' },
  },
} as const;

/** OpenAPI 3.1 headers, by component name. */
export const HEADERS = {
  RequestId: {
    description: 'Id of this request in the logs of the service: the one that was sent, or a new UUID.',
    required: true,
    schema: { type: 'string', pattern: '^[\\w.:+/=@-]{1,128}$' },
    example: '7e8f2f0c-checkout',
  },
  CacheControl: {
    description: 'Responses must not be cached.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  NextAfter: {
    description: 'Opaque cursor to send as `after` for the next page. Absent on the last page.',
    schema: { type: 'string', pattern: '^[\\w-]{1,200}$' },
    example: 'jctWLAtIQgAAAAhpc0Jvb3N0ZWQAABBib29zdFNjb3JlAAAAAAAJY3JlYXRlZEF0AADol7aaAQAAEHB1YmxpY0lkAOsDAAAA',
  },
  IdempotencyReplayed: {
    description:
      '`true` if the item was already stored under this Idempotency-Key, otherwise absent: also for a request that joins one in progress.',
    schema: { type: 'string', const: 'true' },
  },
  PreferenceApplied: {
    description: 'The preference that led to the 202.',
    required: true,
    schema: { type: 'string', const: 'respond-async' },
  },
  WwwAuthenticate: {
    description: 'How to authenticate (RFC 6750). Contains `error="invalid_token"` if a credential was sent.',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="item-listing"',
  },
  WwwAuthenticateScope: {
    description: 'The scope that the caller lacks (RFC 6750). Absent if `userId` is not that of the caller.',
    schema: { type: 'string' },
    example: 'Bearer realm="item-listing", error="insufficient_scope", scope="items:create"',
  },
  RateLimit: {
    description:
      'What is left for the caller of each limit that applies: `r` units, all again in `t` seconds ' +
      '(draft-ietf-httpapi-ratelimit-headers-11). Absent if there are no such limits or the request was refused before it was counted.',
    schema: { type: 'string' },
    example: '"create";r=50;t=30',
  },
  RateLimitPolicy: {
    description:
      'The limits that apply to each caller: `q` units in `w` seconds. The unit `qu` is requests by default, ' +
      '`content-bytes`, or `concurrent-requests` (draft-ietf-httpapi-ratelimit-headers-11). Absent if there are none or the request was refused before it was counted.',
    schema: { type: 'string' },
    example: '"create";q=100;w=60',
  },
  RetryAfter: {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  RetryAfterIfKeyed: {
    description: 'Seconds to wait before the next try with the same Idempotency-Key. Absent if none was sent.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
} as const;

const header = (name: keyof typeof HEADERS): object => ({ $ref: `#/components/headers/${name}` });

/** The headers of responses of operations with rate limits. */
export const RATE_LIMIT_HEADERS = { RateLimit: 'RateLimit', 'RateLimit-Policy': 'RateLimitPolicy' } as const;

/** Returns the headers of a response: those of every response, and `more`. */
export function headers(more: Record<string, keyof typeof HEADERS> = {}): Record<string, object> {
  const all = { 'X-Request-Id': 'RequestId', 'Cache-Control': 'CacheControl', ...more } as const;
  return Object.fromEntries(Object.entries(all).map(([name, component]) => [name, header(component)]));
}
