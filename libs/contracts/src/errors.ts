/**
 * The errors of all routes, with their HTTP status and default message. The names are those of oRPC (`ORPCError` of
 * `@orpc/client` 1.16), and of HTTP or Nest's `HttpStatus` for statuses that oRPC does not name.
 */
export const ERRORS = {
  BAD_REQUEST: { status: 400, message: 'Input validation failed' },
  UNAUTHORIZED: { status: 401, message: 'Authentication required' },
  PAYMENT_REQUIRED: { status: 402, message: 'Payment required' },
  FORBIDDEN: { status: 403, message: 'Not allowed' },
  NOT_FOUND: { status: 404, message: 'Not found' },
  METHOD_NOT_SUPPORTED: { status: 405, message: 'Method not supported' },
  NOT_ACCEPTABLE: { status: 406, message: 'Not acceptable' },
  PROXY_AUTHENTICATION_REQUIRED: { status: 407, message: 'Proxy authentication required' },
  TIMEOUT: { status: 408, message: 'The request did not arrive in time' },
  CONFLICT: { status: 409, message: 'Conflict' },
  GONE: { status: 410, message: 'Gone' },
  LENGTH_REQUIRED: { status: 411, message: 'Length required' },
  PRECONDITION_FAILED: { status: 412, message: 'Precondition failed' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'Body too large' },
  URI_TOO_LONG: { status: 414, message: 'URI too long' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json in UTF-8, not compressed' },
  RANGE_NOT_SATISFIABLE: { status: 416, message: 'Range not satisfiable' },
  EXPECTATION_FAILED: { status: 417, message: 'Expectation failed' },
  IM_A_TEAPOT: { status: 418, message: 'I am a teapot' },
  MISDIRECTED: { status: 421, message: 'Misdirected request' },
  UNPROCESSABLE_CONTENT: { status: 422, message: 'Idempotency-Key was used with another body' },
  LOCKED: { status: 423, message: 'Locked' },
  FAILED_DEPENDENCY: { status: 424, message: 'Failed dependency' },
  PRECONDITION_REQUIRED: { status: 428, message: 'Precondition required' },
  TOO_MANY_REQUESTS: { status: 429, message: 'Too many requests' },
  REQUEST_HEADER_FIELDS_TOO_LARGE: { status: 431, message: 'Request headers too large' },
  UNAVAILABLE_FOR_LEGAL_REASONS: { status: 451, message: 'Unavailable for legal reasons' },
  UNRECOVERABLE_ERROR: { status: 456, message: 'Unrecoverable error' },
  INTERNAL_SERVER_ERROR: { status: 500, message: 'Internal server error' },
  NOT_IMPLEMENTED: { status: 501, message: 'Not implemented' },
  BAD_GATEWAY: { status: 502, message: 'Bad gateway' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'Temporarily unavailable, nothing was created: try again' },
  GATEWAY_TIMEOUT: { status: 504, message: 'The outcome is unknown' },
  HTTP_VERSION_NOT_SUPPORTED: { status: 505, message: 'HTTP version not supported' },
  INSUFFICIENT_STORAGE: { status: 507, message: 'Insufficient storage' },
  LOOP_DETECTED: { status: 508, message: 'Loop detected' },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** A part of an input that is not valid. */
export interface InputIssue {
  path: (string | number)[];
  message: string;
}

/** The body of every error. It has exactly these keys, because an oRPC client drops the message of any other shape. */
export interface ErrorBody {
  defined: false;
  code: ErrorCode;
  status: number;
  message: string;
  data?: object;
}

/** Returns the error body for a code, with its default message unless `message` is given. */
export function errorBody(code: ErrorCode, more: { status?: number; message?: string; data?: object } = {}): ErrorBody {
  const { data, ...details } = more;
  const body: ErrorBody = { defined: false, code, ...ERRORS[code], ...details };
  return data === undefined ? body : { ...body, data };
}
