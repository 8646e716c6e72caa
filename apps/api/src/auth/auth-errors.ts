import { ApiError } from '../http/api-error.js';

/** The scheme and the name of the protected space (https://www.rfc-editor.org/rfc/rfc9110#section-11.5). */
const CHALLENGE = 'Bearer realm="item-listing"';

/** The request has no credential. */
export const CREDENTIAL_MISSING = new ApiError('UNAUTHORIZED', {
  message: 'Authentication required: send `Authorization: Bearer TOKEN`',
  headers: { 'WWW-Authenticate': CHALLENGE },
});

/** Thrown for a credential that is not valid. */
export class InvalidCredential extends ApiError {
  /** @param reason ASCII without quotes or backslashes, because it is sent in a header as well */
  constructor(reason: string) {
    super('UNAUTHORIZED', {
      message: reason,
      headers: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token", error_description="${reason}"` },
    });
  }
}

/**
 * Thrown for a token of an unknown key. It may be valid: the issuer has a new key, which is not fetched yet. It costs
 * little, because there is no signature to verify.
 */
export class UnknownKey extends InvalidCredential {}

/** Returns the error for a caller that lacks a scope (https://www.rfc-editor.org/rfc/rfc6750#section-3.1). */
export function scopeMissing(scope: string): ApiError {
  return new ApiError('FORBIDDEN', {
    message: `The scope ${scope} is required`,
    headers: { 'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${scope}"` },
  });
}
