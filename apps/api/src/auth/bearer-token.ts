import type { IncomingMessage } from 'node:http';
import { ApiError } from '../http/api-error.js';
import { countHeader } from '../http/headers/count-header.js';
import { InvalidCredential } from './auth-errors.js';

/** The syntax of a bearer token (https://www.rfc-editor.org/rfc/rfc6750#section-2.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i;

/**
 * Returns the bearer token of a request, or undefined if it has no `Authorization`.
 *
 * @throws ApiError 400 if there are several, because Node.js uses the first, and a proxy may have checked another
 * @throws InvalidCredential if it is not a bearer token
 */
export function bearerToken(request: IncomingMessage): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined) return undefined;
  if (countHeader(request, 'authorization') > 1)
    throw new ApiError('BAD_REQUEST', { message: 'Authorization must be sent once' });
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) throw new InvalidCredential('Authorization must be a bearer token');
  return token;
}
