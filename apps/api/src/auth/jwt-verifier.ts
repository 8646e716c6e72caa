import type { JWTPayload, JWTVerifyOptions, JWTVerifyResult } from 'jose' with { 'resolution-mode': 'import' };
import { throttle, type JwtConfig, type Logger } from '@app/runtime';
import { ApiError } from '../http/api-error.js';
import { InvalidCredential, UnknownKey } from './auth-errors.js';
import { principalId, type Principal } from './principal.js';
import { KeysUnavailable, remoteKeys } from './remote-keys.js';

/** Signatures with a public key. Never together with HS256: the public key would be the secret (RFC 8725, 2.1). */
const ASYMMETRIC = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
/** By how much the clocks of the issuer and the API may differ. */
const CLOCK_TOLERANCE_S = 30;
const INVALID = 'The token is not valid';
const KEYS_UNAVAILABLE = new ApiError('SERVICE_UNAVAILABLE', {
  message: 'Tokens cannot be verified at the moment, nothing was created: try again',
  headers: { 'Retry-After': '1' },
});

type Verify = (token: string) => Promise<JWTVerifyResult>;

/** Verifies JSON Web Tokens (https://www.rfc-editor.org/rfc/rfc8725). */
export class JwtVerifier {
  private constructor(
    private readonly verifyToken: Verify,
    private readonly refreshKeys: () => Promise<boolean>,
  ) {}

  /** Loads the library only now, because an API without authentication does not need it. */
  static async create(config: JwtConfig, logger: Pick<Logger, 'warn'>): Promise<JwtVerifier> {
    const { jwtVerify } = await import('jose');
    const { key, issuer, audience, tokenType: typ } = config;
    const options: JWTVerifyOptions = {
      issuer,
      audience,
      typ,
      clockTolerance: CLOCK_TOLERANCE_S,
      requiredClaims: ['exp', 'sub'],
    };
    if ('secret' in key) {
      const secret = Buffer.from(key.secret);
      const verify: Verify = (token) => jwtVerify(token, secret, { ...options, algorithms: ['HS256'] });
      return new JwtVerifier(verify, () => Promise.resolve(true));
    }
    const report = throttle((reason: string) => {
      logger.warn({ reason }, 'AUTH_JWKS_URL cannot be read');
    });
    const { find, refresh } = await remoteKeys(key.jwksUrl, report);
    return new JwtVerifier((token) => jwtVerify(token, find, { ...options, algorithms: ASYMMETRIC }), refresh);
  }

  /** Returns whether the keys of the issuer are up to date. Fetches them if that is due. */
  hasKeys(): Promise<boolean> {
    return this.refreshKeys();
  }

  /**
   * Returns the caller of a token.
   *
   * @throws InvalidCredential if the token is not valid, and ApiError 503 if that cannot be decided
   */
  async verify(token: string): Promise<Principal> {
    let payload: JWTPayload;
    try {
      ({ payload } = await this.verifyToken(token));
    } catch (error) {
      if (error instanceof KeysUnavailable) throw KEYS_UNAVAILABLE;
      if (codeOf(error) === 'ERR_JWKS_NO_MATCHING_KEY') throw new UnknownKey(INVALID);
      throw new InvalidCredential(reasonOf(error));
    }
    const id = principalId('jwt', payload.sub);
    if (id === undefined) throw new InvalidCredential(INVALID);
    const expiresAt = (Number(payload.exp) + CLOCK_TOLERANCE_S) * 1000;
    return { id, scopes: scopesOf(payload), expiresAt };
  }
}

/** Returns the scopes of a token: `scope` (RFC 9068, 2.2.3), or `scp` as some issuers name it. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  return [scope ?? scp]
    .flat()
    .filter((each) => typeof each === 'string')
    .flatMap((each) => each.split(' '));
}

/** Says what is wrong with a token, as far as that helps its honest owner. */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ERR_JWT_EXPIRED') return 'The token has expired';
  if (code === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') return `${INVALID}: it needs a kid, because several keys match`;
  if (code !== 'ERR_JWT_CLAIM_VALIDATION_FAILED') return INVALID;
  return `The token is not valid: its ${String((error as { claim?: unknown }).claim)} is not accepted`;
}

/** Returns the documented code of the library's errors. */
function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
