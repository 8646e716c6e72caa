import type { AuthConfig } from '@app/runtime';
import type { ApiRequest } from '../http/api-message.js';
import { ApiError } from '../http/api-error.js';
import type { Access } from './access.js';
import { CREDENTIAL_MISSING, scopeMissing } from './auth-errors.js';
import type { Authenticator } from './authenticator.js';
import { isUser, type Principal } from './principal.js';

/** Decides what callers may do. */
export class Authorizer {
  constructor(
    private readonly config: Pick<AuthConfig, 'createScope' | 'readsRequired'>,
    private readonly authenticator: Authenticator,
  ) {}

  /**
   * Sets the caller of a request. A request that has been checked before is not checked again.
   *
   * @throws ApiError 400, 401, 403, 429 or 503 if the caller is not known or lacks this access
   */
  async check(request: ApiRequest, access: Access): Promise<void> {
    if (request.access === access) return;
    const { createScope, readsRequired } = this.config;
    request.principal = await this.authenticator.authenticate(request);
    if (request.principal === undefined && (access === 'create' || readsRequired)) throw CREDENTIAL_MISSING;
    if (access === 'create' && request.principal?.scopes.includes(createScope) !== true)
      throw scopeMissing(createScope);
    request.access = access;
  }
}

/** Throws 401 or 403 unless the caller is the user with this id. */
export function requireUser(principal: Principal | undefined, userId: string): void {
  if (principal === undefined) throw CREDENTIAL_MISSING;
  if (!isUser(principal, userId)) throw new ApiError('FORBIDDEN', { message: 'userId must be that of the caller' });
}
