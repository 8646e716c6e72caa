/**
 * The errors of all operations, with their HTTP status and default message. Names and statuses are those of oRPC
 * (`ORPCError` of `@orpc/client` 1.16).
 */
export const ERRORS = {
  BAD_REQUEST: { status: 400, message: 'Input validation failed' },
  UNAUTHORIZED: { status: 401, message: 'Authentication required' },
  FORBIDDEN: { status: 403, message: 'Not allowed' },
  NOT_FOUND: { status: 404, message: 'Not found' },
  METHOD_NOT_SUPPORTED: { status: 405, message: 'Method not supported' },
  TIMEOUT: { status: 408, message: 'The request did not arrive in time' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'Body too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The body must be application/json in UTF-8, not compressed' },
  UNPROCESSABLE_CONTENT: { status: 422, message: 'Idempotency-Key was used with another body' },
  TOO_MANY_REQUESTS: { status: 429, message: 'Too many requests' },
  REQUEST_HEADER_FIELDS_TOO_LARGE: { status: 431, message: 'Request headers too large' },
  INTERNAL_SERVER_ERROR: { status: 500, message: 'Internal server error' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'Temporarily unavailable, nothing was created: try again' },
  GATEWAY_TIMEOUT: { status: 504, message: 'The outcome is unknown' },
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
export function errorBody(code: ErrorCode, more: { message?: string; data?: object } = {}): ErrorBody {
  const { status, message } = ERRORS[code];
  const body: ErrorBody = { defined: false, code, status, message: more.message ?? message };
  return more.data === undefined ? body : { ...body, data: more.data };
}
