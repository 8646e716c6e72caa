import { createHash } from 'node:crypto';
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
/** A credential is not limited for a minute after it was valid, which may be up to a minute after it was verified. */
const KNOWN = { forMs: VERIFIED.forMs + 60_000, count: 20_000 };

/** Finds out who sent a request. */
export class Authenticator {
  private readonly verified = new TtlCache<string, Principal>(VERIFIED);
  /** Contains the digests of valid credentials, because these may be long. */
  private readonly known = new TtlCache<string, true>(KNOWN);
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
    const verified = this.verified.get(token);
    if (verified !== undefined && verified.expiresAt > Date.now()) return verified;
    const principal = await this.verify(verifier, token, request);
    if (!isKey && token.length <= MAX_CACHED_LENGTH) this.verified.set(token, principal);
    return principal;
  }

  /** Verifies a credential. Only those that are not known to be valid are limited by failed attempts. */
  private async verify(verifier: Verifier, token: string, request: IncomingMessage): Promise<Principal> {
    const deadline = performance.now() + VERIFY_WITHIN_MS;
    const verify = (): Promise<Principal> => verifier.verify(token, deadline);
    const digest = createHash('sha256').update(token).digest('base64url');
    const isKnown = this.known.get(digest) === true;
    const principal = await (isKnown ? verify() : this.failedAttempts.limit(this.callerAddress(request), verify));
    // Only success makes a credential known for longer. One that has become invalid is soon limited again.
    this.known.set(digest, true);
    return principal;
  }
}
