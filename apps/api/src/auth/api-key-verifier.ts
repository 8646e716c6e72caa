import { isApiKey, type ApiKeyRepository } from '@app/database';
import { TtlCache } from '@app/runtime';
import { InvalidCredential } from './auth-errors.js';
import { principalId, type Principal } from './principal.js';

/** A revoked key is rejected within this time plus one lookup. */
const CACHE = { forMs: 500, count: 10_000 };
const LOOK_UP_WITHIN_MS = 1000;
const NO_SUCH_KEY = new InvalidCredential('The API key does not exist');

/** Verifies API keys. */
export class ApiKeyVerifier {
  private readonly cache = new TtlCache<string, Promise<Principal>>(CACHE);

  constructor(private readonly keys: ApiKeyRepository) {}

  /**
   * Returns the caller of a key.
   *
   * @throws InvalidCredential if the key does not exist, is revoked or has expired
   * @throws an error for which `isDatabaseUnavailable` returns true if it cannot be looked up
   */
  async verify(key: string): Promise<Principal> {
    if (!isApiKey(key)) throw NO_SUCH_KEY;
    return this.cache.getOrSet(key, () => this.find(key));
  }

  private async find(key: string): Promise<Principal> {
    const found = await this.keys.findByKey(key, performance.now() + LOOK_UP_WITHIN_MS);
    const id = principalId('key', found?.owner);
    if (found === undefined || id === undefined) throw NO_SUCH_KEY;
    if (found.revokedAt !== null) throw new InvalidCredential('The API key is revoked');
    const { scopes, expiresAt } = found;
    if (expiresAt.getTime() <= Date.now()) throw new InvalidCredential('The API key has expired');
    return { id, scopes, expiresAt: expiresAt.getTime() };
  }
}
