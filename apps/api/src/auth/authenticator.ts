import type { IncomingMessage } from 'node:http';
import { isApiKeyLike } from '@app/database';
import { TtlCache } from '@app/runtime';
import type { CallerAddress } from '../http/headers/caller-address.js';
import { InvalidCredential } from './auth-errors.js';
import { bearerToken } from './bearer-token.js';
import { FailedAttempts } from './failed-attempts.js';
import type { Principal } from './principal.js';

/** Verifies one kind of credential. */
export interface Verifier {
  /**
   * @param deadline in ms of `performance.now()`
   * @throws InvalidCredential, or another error if the credential cannot be verified at the moment
   */
  verify(credential: string, deadline?: number): Promise<Principal>;
}

export interface Verifiers {
  /** Undefined if tokens are not accepted. */
  jwt: Verifier | undefined;
  /** Undefined if API keys are not accepted. */
  apiKeys: Verifier | undefined;
}

/** The time limit for a credential that waits for others of its address, so that a read is refused within 2 s. */
const VERIFY_WITHIN_MS = 1500;
/** A verified token is not verified again for this time, so that a removed key of its issuer is soon rejected. */
const VERIFIED = { forMs: 60_000, count: 5000 };
/** Longer tokens are verified each time, which limits the memory that the others can use. */
const MAX_CACHED_LENGTH = 4096;

/** Finds out who sent a request. */
export class Authenticator {
  private readonly verified = new TtlCache<string, Principal>(VERIFIED);
  private readonly failedAttempts = new FailedAttempts();

  constructor(
    private readonly verifiers: Verifiers,
    private readonly callerAddress: CallerAddress,
  ) {}

  /**
   * Returns the caller, or undefined if the request has no credential.
   *
   * @throws ApiError 400, 401, 429 or 503
   */
  async authenticate(request: IncomingMessage): Promise<Principal | undefined> {
    const token = bearerToken(request);
    if (token === undefined) return undefined;
    const { jwt, apiKeys } = this.verifiers;
    const isKey = isApiKeyLike(token);
    const verifier = isKey ? apiKeys : jwt;
    if (verifier === undefined) throw new InvalidCredential(`${isKey ? 'API keys' : 'Tokens'} are not accepted`);
    const known = this.verified.get(token);
    if (known === undefined) return this.verify(verifier, token, request);
    const isTrusted = !isKey && known.expiresAt > Date.now();
    return isTrusted ? known : verifier.verify(token);
  }

  /** Verifies a credential that has not been verified recently. Only such credentials are limited by failed attempts. */
  private async verify(verifier: Verifier, token: string, request: IncomingMessage): Promise<Principal> {
    const deadline = performance.now() + VERIFY_WITHIN_MS;
    const verify = (): Promise<Principal> => verifier.verify(token, deadline);
    const principal = await this.failedAttempts.limit(this.callerAddress(request), verify);
    if (token.length <= MAX_CACHED_LENGTH) this.verified.set(token, principal);
    return principal;
  }
}
