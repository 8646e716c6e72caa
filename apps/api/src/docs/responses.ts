import { ERRORS, type ErrorCode } from '@app/contracts';
import { errorExample } from './examples.js';
import { headers } from './headers.js';
import { errorJsonSchema } from './schemas.js';

/** When an operation responds with each error. */
const WHEN = {
  BAD_REQUEST: 'Invalid input, with all issues at once; malformed JSON or bad UTF-8; a malformed Idempotency-Key.',
  NOT_FOUND: 'No such item.',
  TIMEOUT: 'The request came too slowly.',
  PAYLOAD_TOO_LARGE:
    'The body is larger than the service takes: 1 MiB by default, 25,000 objects, arrays and members of objects, 150,000 values. ' +
    'Or the item of a create is larger than 64 KiB by default: its input as JSON, without unknown keys.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json` in UTF-8, or is compressed.',
  UNPROCESSABLE_CONTENT: 'The Idempotency-Key was used with another body.',
  REQUEST_HEADER_FIELDS_TOO_LARGE: 'The headers of the request are too large: 16 KiB at most.',
  INTERNAL_SERVER_ERROR: 'A fault of the service.',
  SERVICE_UNAVAILABLE:
    'A database is away, or too many creates wait. Certainly nothing was created: try again after `Retry-After`.',
  GATEWAY_TIMEOUT:
    'The outcome is unknown, the item may still be created: repeat with the same Idempotency-Key, or ask getById for `data.id`.',
} as const satisfies Partial<Record<ErrorCode, string>>;

type DocumentedCode = keyof typeof WHEN;

/** The errors that every operation may respond with. */
export const ALWAYS: DocumentedCode[] = [
  'BAD_REQUEST',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_HEADER_FIELDS_TOO_LARGE',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
];

const HEADERS: Partial<Record<DocumentedCode, Parameters<typeof headers>[0]>> = {
  SERVICE_UNAVAILABLE: { 'Retry-After': 'RetryAfter' },
  GATEWAY_TIMEOUT: { 'Retry-After': 'RetryAfterIfKeyed' },
};

/** OpenAPI response objects of all errors, by code. */
export const ERROR_RESPONSES = Object.fromEntries(
  (Object.keys(WHEN) as DocumentedCode[]).map((code) => [
    code,
    {
      description: `${code}. ${WHEN[code]}`,
      headers: headers(HEADERS[code]),
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
