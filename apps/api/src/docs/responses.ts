import { ERRORS, type ErrorCode } from '@app/contracts';
import { errorExample } from './examples.js';
import { headers, RATE_LIMIT_HEADERS } from './headers.js';
import { errorJsonSchema } from './schemas.js';

/** When an operation responds with each error. */
const WHEN = {
  BAD_REQUEST:
    'Invalid input, with all issues at once; a page of more than 40 MiB; malformed JSON or bad UTF-8; a malformed Idempotency-Key; more than one Authorization; invalid HTTP.',
  UNAUTHORIZED: 'Authentication is on, and the credential is missing where one is required, or is not valid.',
  FORBIDDEN: 'Authentication is on, and the caller lacks the scope, or `userId` is not that of the caller.',
  NOT_FOUND: 'No such item.',
  TIMEOUT: 'The request did not arrive in time.',
  PAYLOAD_TOO_LARGE:
    'The body is too large: by default, more than 1 MiB, 25,000 objects, arrays and object members, or 150,000 values. ' +
    'Or the item of a create is too large: by default, its input as JSON without unknown keys has more than 64 KiB.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json` in UTF-8, or is compressed.',
  TOO_MANY_REQUESTS:
    'A rate limit is set, and the caller has exceeded it. Or authentication is on, and this address has sent too many ' +
    'invalid credentials, or too many creates of this caller wait. Nothing was created. Try again after `Retry-After`.',
  UNPROCESSABLE_CONTENT: 'The Idempotency-Key was used with another body.',
  REQUEST_HEADER_FIELDS_TOO_LARGE: 'The request headers are larger than 16 KiB.',
  INTERNAL_SERVER_ERROR: 'The service has a fault.',
  SERVICE_UNAVAILABLE:
    'A database or the keys of tokens are unavailable, the credential could not be verified in time, creates cannot be counted, or too many are waiting. Nothing was created. Try again after `Retry-After`.',
  GATEWAY_TIMEOUT:
    'The outcome is unknown: the item may still be created. Repeat the request with the same Idempotency-Key, or call `getById` with `data.id`.',
} as const satisfies Partial<Record<ErrorCode, string>>;

type DocumentedCode = keyof typeof WHEN;

/** The errors that every operation may respond with. */
export const ALWAYS: DocumentedCode[] = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'TOO_MANY_REQUESTS',
  'REQUEST_HEADER_FIELDS_TOO_LARGE',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
];

/** Sent before the caller is known. */
const NEVER_COUNTED: DocumentedCode[] = ['REQUEST_HEADER_FIELDS_TOO_LARGE'];

const HEADERS: Partial<Record<DocumentedCode, Parameters<typeof headers>[0]>> = {
  UNAUTHORIZED: { 'WWW-Authenticate': 'WwwAuthenticate' },
  FORBIDDEN: { 'WWW-Authenticate': 'WwwAuthenticateScope' },
  TOO_MANY_REQUESTS: { 'Retry-After': 'RetryAfter' },
  SERVICE_UNAVAILABLE: { 'Retry-After': 'RetryAfter' },
  GATEWAY_TIMEOUT: { 'Retry-After': 'RetryAfterIfKeyed' },
};

/** OpenAPI response objects of all errors, by code. */
export const ERROR_RESPONSES = Object.fromEntries(
  (Object.keys(WHEN) as DocumentedCode[]).map((code) => [
    code,
    {
      description: `${code}. ${WHEN[code]}`,
      headers: headers({ ...HEADERS[code], ...(NEVER_COUNTED.includes(code) ? {} : RATE_LIMIT_HEADERS) }),
      content: json(errorJsonSchema(code), { [code]: { value: errorExample(code) } }),
    },
  ]),
);

/** Returns the error responses of an operation, by status. */
export function errorResponses(codes: DocumentedCode[]): Record<string, object> {
  const entries = codes.map((code) => [String(ERRORS[code].status), { $ref: `#/components/responses/${code}` }]);
  return Object.fromEntries(entries) as Record<string, object>;
}

/** Returns the OpenAPI content of a JSON body, with examples by name. */
export function json(schema: object, examples: Record<string, { value: unknown; summary?: string }>): object {
  return { 'application/json': { schema, examples } };
}
