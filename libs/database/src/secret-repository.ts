import { randomBytes } from 'node:crypto';
import { mongo } from 'mongoose';
import type { Database } from './database.js';
import { DatabaseTimeout } from './deadline.js';
import { DUPLICATE_KEY, DURABLY } from './insert-each.js';

/** What a secret is for. */
export type SecretName = 'idempotency';

const BYTES = 32;

/** Secrets that all processes on one database share. */
export class SecretRepository {
  private readonly known = new Map<SecretName, Promise<string>>();

  constructor(private readonly database: Database) {}

  /**
   * Returns the secret with this name, and creates it if there is none; asks MongoDB once. All callers get the same
   * value, even when they race to create it: only a value that a majority of the replica set has stored is returned.
   *
   * @throws an error of which `isDatabaseAway` is true when MongoDB does not answer
   */
  findOrCreate(name: SecretName): Promise<string> {
    const asked = this.known.get(name) ?? this.ask(name);
    this.known.set(name, asked);
    asked.catch(() => this.known.delete(name));
    return asked;
  }

  private async ask(name: SecretName): Promise<string> {
    const value = (await this.find(name)) ?? (await this.database.read(this.create(name)));
    if (value === undefined) throw new DatabaseTimeout('the secret is not confirmed by a majority yet');
    return value;
  }

  private async create(_id: SecretName): Promise<string | undefined> {
    const value = randomBytes(BYTES).toString('base64url');
    try {
      await this.database.models.secrets.updateOne({ _id }, { $setOnInsert: { value } }, { upsert: true, ...DURABLY });
    } catch (error) {
      // Another process has created it at the same moment.
      if (!(error instanceof mongo.MongoServerError) || error.code !== DUPLICATE_KEY) throw error;
    }
    return this.find(_id);
  }

  private async find(name: SecretName): Promise<string | undefined> {
    const query = this.database.models.secrets.findById(name).read('primary').readConcern('majority');
    return (await this.database.read(query.lean()))?.value;
  }
}
