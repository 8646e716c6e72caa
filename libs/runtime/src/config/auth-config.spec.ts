import { loadAuthConfig } from './auth-config.js';

const tokens = { AUTH_ISSUER: 'https://issuer.example', AUTH_AUDIENCE: 'items' };
const jwks = { AUTH_JWKS_URL: 'https://issuer.example/jwks.json', ...tokens };
const secret = 'a secret of at least 32 characters';

describe('the settings of authentication', () => {
  it('authentication is off by default', () => {
    expect(loadAuthConfig({})).toBeUndefined();
  });

  it('the settings of authentication accept tokens, API keys or both', () => {
    const more = { createScope: 'items:create', readsRequired: false };
    const jwt = { issuer: tokens.AUTH_ISSUER, audience: tokens.AUTH_AUDIENCE, tokenType: 'at+jwt' };
    expect(loadAuthConfig(jwks)).toEqual({
      jwt: { key: { jwksUrl: jwks.AUTH_JWKS_URL }, ...jwt },
      apiKeys: false,
      ...more,
    });
    expect(loadAuthConfig({ AUTH_JWT_SECRET: secret, ...tokens })?.jwt).toEqual({ key: { secret }, ...jwt });
    expect(loadAuthConfig({ AUTH_API_KEYS: 'on' })).toEqual({ jwt: undefined, apiKeys: true, ...more });
    expect(loadAuthConfig({ ...jwks, AUTH_API_KEYS: 'on', AUTH_READS: 'required' })).toMatchObject({
      jwt,
      apiKeys: true,
      readsRequired: true,
    });
  });

  it('the settings of authentication accept keys over plain HTTP from this machine only', () => {
    for (const host of ['localhost:9', '127.0.0.1', '127.1.2.3', '[::1]:9'])
      expect(loadAuthConfig({ ...jwks, AUTH_JWKS_URL: `http://${host}/x` })).toBeDefined();
    for (const url of ['http://issuer.example/x', 'http://127.0.0.1.example/x', 'ftp://issuer.example/x', 'issuer'])
      expect(() => loadAuthConfig({ ...jwks, AUTH_JWKS_URL: url })).toThrow(/^AUTH_JWKS_URL is not valid/);
  });

  it('the settings of authentication do not accept a user or a password in the URL of the keys, and say so', () => {
    const url = 'https://user:pw@issuer.example/x';
    expect(() => loadAuthConfig({ ...jwks, AUTH_JWKS_URL: url })).toThrow(
      /^AUTH_JWKS_URL is not valid: it must be a URL without user and password/,
    );
  });

  it.each([
    [{ ...jwks, AUTH_JWT_SECRET: secret }, 'AUTH_JWKS_URL and AUTH_JWT_SECRET are both set'],
    [{ ...jwks, AUTH_ISSUER: '' }, 'AUTH_ISSUER is missing'],
    [{ ...jwks, AUTH_AUDIENCE: '' }, 'AUTH_AUDIENCE is missing'],
    [tokens, 'AUTH_ISSUER is set, but neither AUTH_JWKS_URL nor AUTH_JWT_SECRET is'],
    [{ AUTH_AUDIENCE: 'items' }, 'AUTH_AUDIENCE is set, but neither'],
    [{ AUTH_READS: 'required' }, 'AUTH_READS is set, but neither'],
    [{ AUTH_CREATE_SCOPE: 'items:create' }, 'AUTH_CREATE_SCOPE is set, but neither'],
    [{ SELLER_BACKLOG_LIMIT: '5' }, 'SELLER_BACKLOG_LIMIT is set, but neither'],
    [{ SELLER_BACKLOG_BYTES: '5000' }, 'SELLER_BACKLOG_BYTES is set, but neither'],
    [{ AUTH_TOKEN_TYPE: 'JWT' }, 'AUTH_TOKEN_TYPE is set, but neither'],
    [{ AUTH_TOKEN_TYPE: 'JWT', AUTH_API_KEYS: 'on' }, 'AUTH_TOKEN_TYPE is set, but neither'],
    [{ AUTH_JWT_SECRET: 'short', ...tokens }, 'AUTH_JWT_SECRET is not valid'],
    [{ ...jwks, AUTH_READS: 'closed' }, 'AUTH_READS is not valid'],
    [{ ...jwks, AUTH_CREATE_SCOPE: 'a b' }, 'AUTH_CREATE_SCOPE is not valid'],
    [{ AUTH_API_KEYS: 'yes' }, 'AUTH_API_KEYS is not valid'],
  ])('the settings of authentication are rejected if they do not protect what they seem to: %j', (env, message) => {
    expect(() => loadAuthConfig(env)).toThrow(message);
  });
});
