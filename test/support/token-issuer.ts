import { constants, createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const ISSUER = 'https://issuer.example';
export const AUDIENCE = 'item-listing';

/** A key pair, with its id and the algorithm of its signatures. */
export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

const GENERATE = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: () => generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

/** The digest of each algorithm of signatures. */
const DIGESTS: Record<string, string | null> = {
  RS256: 'sha256',
  RS512: 'sha512',
  PS256: 'sha256',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  EdDSA: null,
};

export function newSigningKey(kid: string, alg: keyof typeof GENERATE = 'ES256'): SigningKey {
  return { kid, alg, ...GENERATE[alg]() };
}

/** Returns an RSA key that is shorter than RFC 7518, 3.3, allows. */
export function newShortKey(kid: string): SigningKey {
  return { kid, alg: 'RS256', ...generateKeyPairSync('rsa', { modulusLength: 1024 }) };
}

const encode = (value: object): string =>
  (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))).toString('base64url');

/** Returns claims that are accepted, with changes. A change to undefined leaves a claim out. */
export function claims(changes: object = {}): object {
  const now = Math.floor(Date.now() / 1000);
  return { iss: ISSUER, aud: AUDIENCE, sub: 'alice', exp: now + 600, iat: now, scope: 'items:create', ...changes };
}

/**
 * Returns a token signed with a private key, by the algorithm of its header if that is known. A buffer is sent as it is.
 * It uses no library, so that the test can forge any token.
 */
export function signToken(key: SigningKey, payload: object = claims(), more: object = {}): string {
  const header = { alg: key.alg, kid: key.kid, typ: 'at+jwt', ...more };
  const input = `${encode(header)}.${encode(payload)}`;
  const alg = header.alg in DIGESTS ? header.alg : key.alg;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const options = { dsaEncoding: 'ieee-p1363' as const, ...(alg.startsWith('PS') ? pss : {}) };
  const signature = sign(DIGESTS[alg], Buffer.from(input), { key: key.privateKey, ...options });
  return `${input}.${signature.toString('base64url')}`;
}

/** Returns a token signed with a shared secret. */
export function signWithSecret(secret: string | Buffer, payload: object = claims(), header: object = {}): string {
  const input = `${encode({ alg: 'HS256', typ: 'at+jwt', ...header })}.${encode(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

/** Publishes public keys as a JSON Web Key Set, well or badly. */
export class KeyServer {
  requests = 0;
  /** Responds instead of the key set. */
  behaviour: RequestListener | undefined;
  private readonly server: Server;

  constructor(public keys: SigningKey[]) {
    this.server = createServer((request, response) => {
      this.requests++;
      if (this.behaviour !== undefined) this.behaviour(request, response);
      else response.end(this.keySet);
    });
  }

  get keySet(): string {
    const keys = this.keys.map(({ kid, alg, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg }));
    return JSON.stringify({ keys });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const { port } = this.server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}/jwks.json`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export function bearer(token: string): Record<string, string> {
  return { Authorization: `Bearer ${token}` };
}
