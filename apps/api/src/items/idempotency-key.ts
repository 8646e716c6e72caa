import { createHmac } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { SecretRepository } from '@app/database';
import type { ApiConfig } from '@app/runtime';
import { API_CONFIG } from '../api-config.js';
import { Refusal } from '../orpc/refusal.js';

/** Visible ASCII, so that every proxy hands it on unchanged. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** The `Idempotency-Key` of a request, or undefined. @throws Refusal BAD_REQUEST when it is malformed */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && KEY.test(header)) return header;
  throw new Refusal('BAD_REQUEST', { message: 'Idempotency-Key must be 1 to 255 visible ASCII characters' });
}

/** Derives the ids of items from Idempotency-Keys, with the one secret of all instances. */
@Injectable()
export class IdempotencyKeys {
  private secret: Promise<string> | undefined;

  constructor(
    private readonly secrets: SecretRepository,
    @Inject(API_CONFIG) { idempotencySecret }: ApiConfig,
  ) {
    if (idempotencySecret !== undefined) this.secret = Promise.resolve(idempotencySecret);
  }

  /**
   * Returns the id of the item that a caller creates under a key. The database is asked for its secret once.
   *
   * @throws an error of which `isDatabaseAway` is true when the secret cannot be read
   */
  async itemIdOf(caller: string, key: string): Promise<string> {
    this.secret ??= this.secrets.findOrCreate('idempotency').catch((error: unknown) => {
      this.secret = undefined;
      throw error;
    });
    return itemIdOf(await this.secret, caller, key);
  }
}

/**
 * Returns the id of the item that a caller creates under a key: the same on every instance, for ever, so that
 * MongoDB's own `_id` keeps it from being created twice. Nobody can compute it without the secret, and so neither read
 * nor take the item of a key that is easy to guess. As JSON, because callers and keys may hold any separator.
 */
export function itemIdOf(secret: string, caller: string, key: string): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify(['v2', caller, key]))
    .digest('hex')
    .slice(0, 24);
}
