import { ConfigError, read, variable } from './settings.js';

/** How tokens are verified (https://www.rfc-editor.org/rfc/rfc7519). */
export interface JwtConfig {
  /** Where the public keys are published, or the shared secret. */
  key: { jwksUrl: string } | { secret: string };
  issuer: string;
  audience: string;
  /** The required `typ` header. */
  tokenType: string;
}

/** Who may call the operations. */
export interface AuthConfig {
  /** Undefined means that JSON Web Tokens are not accepted. */
  jwt: JwtConfig | undefined;
  /** Whether API keys are accepted. */
  apiKeys: boolean;
  /** The scope that creates require. */
  createScope: string;
  /** Whether reads require a caller too. */
  readsRequired: boolean;
}

/** Settings that have no effect without authentication. */
const NEED_CALLERS = ['AUTH_CREATE_SCOPE', 'SELLER_BACKLOG_LIMIT', 'SELLER_BACKLOG_BYTES'];

/** Reads the settings of authentication. Returns undefined if it is off. @throws ConfigError */
export function loadAuthConfig(env: NodeJS.ProcessEnv): AuthConfig | undefined {
  const jwt = loadJwtConfig(env);
  const apiKeys = read(env, 'AUTH_API_KEYS') === 'on';
  const createScope = read(env, 'AUTH_CREATE_SCOPE');
  const readsRequired = read(env, 'AUTH_READS') === 'required';
  if (jwt !== undefined || apiKeys) return { jwt, apiKeys, createScope, readsRequired };
  const unused = readsRequired ? 'AUTH_READS' : firstSet(env, NEED_CALLERS);
  if (unused !== undefined) throw withoutKey(unused, ', and AUTH_API_KEYS is off');
  return undefined;
}

function loadJwtConfig(env: NodeJS.ProcessEnv): JwtConfig | undefined {
  const [jwksUrl, secret] = [read(env, 'AUTH_JWKS_URL'), read(env, 'AUTH_JWT_SECRET')];
  const [issuer, audience] = [read(env, 'AUTH_ISSUER'), read(env, 'AUTH_AUDIENCE')];
  // A token signed with the public key as the secret would otherwise be valid (RFC 8725, 2.1).
  if (jwksUrl !== undefined && secret !== undefined)
    throw new ConfigError('AUTH_JWKS_URL and AUTH_JWT_SECRET are both set: set one of them');
  const key = jwksUrl !== undefined ? { jwksUrl } : secret !== undefined ? { secret } : undefined;
  if (key === undefined) {
    const unused = firstSet(env, ['AUTH_ISSUER', 'AUTH_AUDIENCE', 'AUTH_TOKEN_TYPE']);
    if (unused !== undefined) throw withoutKey(unused);
    return undefined;
  }
  if (issuer === undefined) throw new ConfigError('AUTH_ISSUER is missing: it must be the issuer of the tokens');
  if (audience === undefined) throw new ConfigError('AUTH_AUDIENCE is missing: it must be the audience of the tokens');
  return { key, issuer, audience, tokenType: read(env, 'AUTH_TOKEN_TYPE') };
}

function firstSet(env: NodeJS.ProcessEnv, names: readonly string[]): string | undefined {
  return names.find((name) => variable(env, name) !== undefined);
}

function withoutKey(name: string, more = ''): ConfigError {
  return new ConfigError(`${name} is set, but neither AUTH_JWKS_URL nor AUTH_JWT_SECRET is${more}`);
}
