import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
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
  EdDSA: () => generateKeyPairSync('ed25519'),
};

export function newSigningKey(kid: string, alg: keyof typeof GENERATE = 'ES256'): SigningKey {
  return { kid, alg, ...GENERATE[alg]() };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns claims that are accepted, with changes. A change to undefined leaves a claim out. */
export function claims(changes: object = {}): object {
  const now = Math.floor(Date.now() / 1000);
  return { iss: ISSUER, aud: AUDIENCE, sub: 'alice', exp: now + 600, iat: now, scope: 'items:create', ...changes };
}

/** Returns a token signed with a private key. It uses no library, so that the test can forge any token. */
export function signToken(key: SigningKey, payload: object = claims(), header: object = {}): string {
  const input = `${encode({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })}.${encode(payload)}`;
  const digest = key.alg === 'EdDSA' ? null : 'sha256';
  const signature = sign(digest, Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
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
