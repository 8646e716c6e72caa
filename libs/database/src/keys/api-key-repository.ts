import { BatchLoader, type FoundValues } from '@app/runtime';
import type { Collection } from 'mongoose';
import type { Database } from '../connection/database.js';
import { DURABLE_WRITE } from '../insert-each.js';
import type { ApiKeyRecord } from '../models.js';
import { digestOf, newApiKey } from './api-key.js';

/** A stored key, without the key itself. */
export interface ApiKey extends Omit<ApiKeyRecord, '_id'> {
  /** The start of its digest, by which operators refer to it. */
  id: string;
}

/** What is needed for a new key. */
export type NewApiKey = Pick<ApiKey, 'owner' | 'scopes' | 'expiresAt'>;

/** An owner has as many live keys as are allowed. */
export class TooManyKeys extends Error {
  constructor(readonly others: readonly ApiKey[]) {
    super('the owner has too many keys');
  }
}

/** An old key, and a new one that replaces it. */
const MAX_LIVE_KEYS = 2;
const ID_LENGTH = 12;
const ID = new RegExp(`^[0-9a-f]{${String(ID_LENGTH)}}$`);

/** Stores API keys as digests. */
export class ApiKeyRepository {
  private readonly byDigest = new BatchLoader((digests, deadline) => this.findByDigests(digests, deadline));

  constructor(private readonly database: Database) {}

  /**
   * Returns the record of a key, whether or not it is still valid.
   *
   * @param deadline in ms of `performance.now()`
   * @throws TimeoutError at the deadline
   */
  findByKey(key: string, deadline: number): Promise<ApiKey | undefined> {
    return this.byDigest.load(digestOf(key), deadline);
  }

  /**
   * Creates a key and returns it with its record. The key cannot be read again.
   *
   * @throws {@link TooManyKeys} if the owner has two keys already, or may have because of concurrent calls
   */
  async create(wanted: NewApiKey): Promise<{ key: string; record: ApiKey }> {
    const key = newApiKey();
    const record = { _id: digestOf(key), ...wanted, createdAt: new Date(), revokedAt: null };
    await this.collection.insertOne(record, DURABLE_WRITE);
    // Counted after the insert, so that of two calls at least one finds the other's key.
    const others = (await this.findLive(wanted.owner)).filter(({ _id }) => _id !== record._id);
    if (others.length < MAX_LIVE_KEYS) return { key, record: toApiKey(record) };
    await this.collection.deleteOne({ _id: record._id }, DURABLE_WRITE);
    throw new TooManyKeys(others.map(toApiKey));
  }

  /** Returns all keys, the oldest first. */
  async findAll(): Promise<ApiKey[]> {
    const found = await this.database.models.apiKeys.find().sort({ createdAt: 1, _id: 1 }).lean();
    return found.map(toApiKey);
  }

  /** Revokes the key with this id. Returns it, or undefined if there is none. A second call changes nothing. */
  async revoke(id: string): Promise<ApiKey | undefined> {
    if (!ID.test(id)) return undefined;
    // The letter g follows all hexadecimal digits.
    const query = { _id: { $gte: id, $lt: `${id}g` } };
    await this.collection.updateOne({ ...query, revokedAt: null }, { $set: { revokedAt: new Date() } }, DURABLE_WRITE);
    const found = await this.collection.findOne(query);
    return found === null ? undefined : toApiKey(found);
  }

  /** Returns the keys of an owner that have neither expired nor been revoked. */
  private findLive(owner: string): Promise<ApiKeyRecord[]> {
    return this.collection.find({ owner, revokedAt: null, expiresAt: { $gt: new Date() } }).toArray();
  }

  private get collection(): Collection<ApiKeyRecord> {
    return this.database.connection.collection<ApiKeyRecord>(this.database.models.apiKeys.collection.name);
  }

  private async findByDigests(digests: readonly string[], deadline: number): Promise<FoundValues<ApiKey>> {
    const query = { _id: { $in: [...digests] } };
    const found = await this.database.readAll(deadline, (limits) => this.collection.find(query, limits));
    return { values: new Map(found.map((record) => [record._id, toApiKey(record)])), areAll: true };
  }
}

function toApiKey({ _id, owner, scopes, createdAt, expiresAt, revokedAt }: ApiKeyRecord): ApiKey {
  return { id: _id.slice(0, ID_LENGTH), owner, scopes, createdAt, expiresAt, revokedAt };
}
