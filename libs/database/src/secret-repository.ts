import { randomBytes } from 'node:crypto';
import { TimeoutError } from '@app/runtime';
import type { Database } from './connection/database.js';
import { hasCode } from './connection/database-errors.js';
import { DUPLICATE_KEY, DURABLE_WRITE } from './insert-each.js';

const IDEMPOTENCY = { _id: 'idempotency' };
const BYTES = 32;

/** The secret of idempotency keys, which all processes on one database share. */
export class SecretRepository {
  private known: Promise<string> | undefined;

  constructor(private readonly database: Database) {}

  /**
   * Returns the secret, and creates it if there is none. A successful result is cached. All callers get the same value,
   * even if they race to create it, because only a value that a majority of the replica set has stored is returned.
   *
   * @throws an error for which `isDatabaseUnavailable` returns true if MongoDB does not respond
   */
  findOrCreate(): Promise<string> {
    this.known ??= this.load().catch((error: unknown) => {
      this.known = undefined;
      throw error;
    });
    return this.known;
  }

  private async load(): Promise<string> {
    const value = (await this.find()) ?? (await this.database.read(this.create()));
    if (value === undefined) throw new TimeoutError('the secret is not confirmed by a majority yet');
    return value;
  }

  private async create(): Promise<string | undefined> {
    const value = randomBytes(BYTES).toString('base64url');
    try {
      await this.database.models.secrets.updateOne(
        IDEMPOTENCY,
        { $setOnInsert: { value } },
        { upsert: true, ...DURABLE_WRITE },
      );
    } catch (error) {
      // Another process created it at the same time.
      if (!hasCode(error, DUPLICATE_KEY)) throw error;
    }
    return this.find();
  }

  private async find(): Promise<string | undefined> {
    const query = this.database.models.secrets.findOne(IDEMPOTENCY).readConcern('majority');
    return (await this.database.read(query.lean()))?.value;
  }
}
