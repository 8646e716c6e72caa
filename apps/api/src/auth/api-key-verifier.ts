import { isApiKey, type ApiKey, type ApiKeyRepository } from '@app/database';
import { TtlCache } from '@app/runtime';
import { InvalidCredential } from './auth-errors.js';
import { principalId, type Principal } from './principal.js';

/** A revoked key is rejected within this time plus one lookup. */
const CACHE = { forMs: 500, count: 10_000 };
const LOOK_UP_WITHIN_MS = 1000;
const NO_SUCH_KEY = new InvalidCredential('The API key does not exist');

/** Verifies API keys. */
export class ApiKeyVerifier {
  private readonly cache = new TtlCache<string, { found: ApiKey | undefined }>(CACHE);

  constructor(private readonly keys: ApiKeyRepository) {}

  /**
   * Returns the caller of a key.
   *
   * @param deadline in ms of `performance.now()`
   * @throws InvalidCredential if the key does not exist, is revoked or has expired
   * @throws an error for which `isDatabaseUnavailable` returns true if it cannot be looked up
   */
  async verify(key: string, deadline = Infinity): Promise<Principal> {
    if (!isApiKey(key)) throw NO_SUCH_KEY;
    const found = await this.find(key, deadline);
    const id = principalId('key', found?.owner);
    if (found === undefined || id === undefined) throw NO_SUCH_KEY;
    if (found.revokedAt !== null) throw new InvalidCredential('The API key is revoked');
    const { scopes, expiresAt } = found;
    if (expiresAt.getTime() <= Date.now()) throw new InvalidCredential('The API key has expired');
    return { id, scopes, expiresAt: expiresAt.getTime() };
  }

  /** Caches only what was found: a caller that shares a pending look-up would have less time than its own. */
  private async find(key: string, deadline: number): Promise<ApiKey | undefined> {
    const cached = this.cache.get(key);
    if (cached !== undefined) return cached.found;
    const found = await this.keys.findByKey(key, Math.min(performance.now() + LOOK_UP_WITHIN_MS, deadline));
    this.cache.set(key, { found });
    return found;
  }
}
