import { randomBytes } from 'node:crypto';
import { TimeoutError } from '@app/runtime';
import type { Database } from './connection/database.js';
import { hasCode } from './connection/database-errors.js';
import { DUPLICATE_KEY, DURABLE_WRITE } from './insert-each.js';

/** What a secret is for. */
export type SecretName = 'idempotency';

const BYTES = 32;

/** Secrets that all processes on one database share. */
export class SecretRepository {
  private readonly known = new Map<SecretName, Promise<string>>();

  constructor(private readonly database: Database) {}

  /**
   * Returns the secret with this name, and creates it if there is none. A successful result is cached. All callers get
   * the same value, even if they race to create it, because only a value that a majority of the replica set has stored
   * is returned.
   *
   * @throws an error for which `isDatabaseUnavailable` returns true if MongoDB does not respond
   */
  findOrCreate(name: SecretName): Promise<string> {
    const secret = this.known.get(name) ?? this.load(name);
    this.known.set(name, secret);
    secret.catch(() => this.known.delete(name));
    return secret;
  }

  private async load(name: SecretName): Promise<string> {
    const value = (await this.find(name)) ?? (await this.database.read(this.create(name)));
    if (value === undefined) throw new TimeoutError('the secret is not confirmed by a majority yet');
    return value;
  }

  private async create(_id: SecretName): Promise<string | undefined> {
    const value = randomBytes(BYTES).toString('base64url');
    try {
      await this.database.models.secrets.updateOne(
        { _id },
        { $setOnInsert: { value } },
        { upsert: true, ...DURABLE_WRITE },
      );
    } catch (error) {
      // Another process created it at the same time.
      if (!hasCode(error, DUPLICATE_KEY)) throw error;
    }
    return this.find(_id);
  }

  private async find(name: SecretName): Promise<string | undefined> {
    const query = this.database.models.secrets.findById(name).readConcern('majority');
    return (await this.database.read(query.lean()))?.value;
  }
}
