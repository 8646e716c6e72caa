/**
 * OpenAPI 3.1 parameters, by component name. They have no examples, because the docs page would send them: all its
 * visitors would share one Idempotency-Key.
 */
export const PARAMETERS = {
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Name of this request in the log lines of the service: up to 128 letters, digits and `.:+/=@_-`. Without it, or with ' +
      'anything else, the service makes one.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the create safe to repeat: the same key and body give the same item, for as long as it exists; another body under the key is a ' +
      '422. 1 to 255 visible ASCII characters. All callers share one space of keys: use a UUID. An answer of 4xx or 503 binds no key.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      'RFC 7240. `respond-async`: 202 as soon as the create is queued. `respond-async, wait=N`: 200 if the item is stored within N ' +
      'seconds, else 202. `wait=N`: wait at most N seconds, 10 by default and at most. What is malformed or unknown is ignored.',
    schema: { type: 'string' },
  },
} as const;

/** OpenAPI 3.1 headers, by component name. */
export const HEADERS = {
  RequestId: {
    description: 'Name of this request in the log lines of the service: the one that was sent, or a new UUID.',
    required: true,
    schema: { type: 'string', pattern: '^[\\w.:+/=@-]{1,128}$' },
    example: '7e8f2f0c-checkout',
  },
  CacheControl: {
    description: 'No answer is to be kept by a cache.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  NextAfter: {
    description: 'What to send as `after` for the next page; absent on the last one. Opaque.',
    schema: { type: 'string', pattern: '^[\\w-]{1,200}$' },
    example: 'u1ZCYQ4vWzEsImxpc3QiLGZhbHNlLDAsMTc2NDAwMDAwMDAwMCwxMDAzXQ',
  },
  IdempotencyReplayed: {
    description: '`true` where the item was created by an earlier request with this Idempotency-Key, else absent.',
    schema: { type: 'string', const: 'true' },
  },
  PreferenceApplied: {
    description: 'The preference that made this a 202.',
    required: true,
    schema: { type: 'string', const: 'respond-async' },
  },
  RetryAfter: {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  RetryAfterIfKeyed: {
    description: 'Seconds after which to try again with the same Idempotency-Key; absent where none was sent.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
} as const;

const header = (name: keyof typeof HEADERS): object => ({ $ref: `#/components/headers/${name}` });

/** Returns the headers of a response: those of every response, and `more`. */
export function headers(more: Record<string, keyof typeof HEADERS> = {}): Record<string, object> {
  const all = { 'X-Request-Id': 'RequestId', 'Cache-Control': 'CacheControl', ...more } as const;
  return Object.fromEntries(Object.entries(all).map(([name, component]) => [name, header(component)]));
}
