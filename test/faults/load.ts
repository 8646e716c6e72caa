import { setTimeout as delay } from 'node:timers/promises';
import type { Item } from '@app/contracts';
import type { ApiClient } from '../support/api-client.js';
import { uniqueWord, validInput } from '../support/items.js';

/** The fields of an item that are the same in every response for a key. */
export type StableFields = Pick<Item, 'id' | 'publicId' | 'slug' | 'createdAt'>;

/** One request and its response, as a client would log them. */
export interface Attempt {
  /** The Idempotency-Key, which is also the item's name. For a create without a key, only the name. */
  key: string;
  isKeyed: boolean;
  at: number;
  afterMs: number;
  /** The status of the response; `lost` without one. */
  status: number | 'lost';
  item?: StableFields;
}

const CLIENTS = 16;
const PAUSE_MS = 20;
const PAUSE_AFTER_ERROR_MS = 200;
const GIVE_UP_MS = 30_000;
/** Every so many keys, one is sent twice at once. */
const DUPLICATE_EVERY = 8;
/** Every so many keys, one is sent with `Prefer: respond-async`. */
const RESPOND_ASYNC_EVERY = 5;

/** Clients that create items with keys, one after the other, and record every response. */
export class Load {
  readonly attempts: Attempt[] = [];
  private readonly clients: Promise<void>[] = [];
  private isOver = false;
  private keys = 0;
  private turn = 0;

  /** @param apis returns the APIs that currently receive requests */
  constructor(private readonly apis: () => ApiClient[]) {}

  start(): void {
    for (let client = 0; client < CLIENTS; client++) this.clients.push(this.createRepeatedly());
  }

  /** Stops sending creates, and resolves when the pending ones have finished. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  /** Sends one create with a key. */
  async create(key: string, prefer?: 'respond-async'): Promise<Attempt> {
    return this.attempt(key, { 'Idempotency-Key': key, ...(prefer === undefined ? {} : { Prefer: prefer }) });
  }

  /** Sends one create without a key, and does not wait for its item to be stored. */
  async accept(name: string): Promise<Attempt> {
    return this.attempt(name, { Prefer: 'respond-async' });
  }

  private async attempt(key: string, headers: Record<string, string>): Promise<Attempt> {
    const at = Date.now();
    const outcome = await this.send(key, headers);
    const isKeyed = 'Idempotency-Key' in headers;
    const attempt = { key, isKeyed, at, afterMs: Date.now() - at, ...outcome };
    this.attempts.push(attempt);
    return attempt;
  }

  /**
   * Repeats creates with their keys until each returns its item.
   *
   * @returns the keys for which that did not happen in time
   */
  async repeat(keys: readonly string[], withinMs: number): Promise<string[]> {
    const end = Date.now() + withinMs;
    const remaining = [...keys];
    const failed: string[] = [];
    const client = async (): Promise<void> => {
      for (let key = remaining.pop(); key !== undefined; key = remaining.pop()) {
        while ((await this.create(key)).status !== 200) {
          if (Date.now() > end) {
            failed.push(key);
            break;
          }
          await delay(PAUSE_AFTER_ERROR_MS);
        }
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return failed;
  }

  /** Returns all attempts by key. */
  byKey(): Map<string, Attempt[]> {
    const attempts = new Map<string, Attempt[]>();
    for (const attempt of this.attempts) {
      const ofKey = attempts.get(attempt.key);
      if (ofKey === undefined) attempts.set(attempt.key, [attempt]);
      else ofKey.push(attempt);
    }
    return attempts;
  }

  private async createRepeatedly(): Promise<void> {
    while (!this.isOver) {
      const key = uniqueWord();
      const count = this.keys++;
      const prefer = count % RESPOND_ASYNC_EVERY === 0 ? 'respond-async' : undefined;
      const duplicate = count % DUPLICATE_EVERY === 0 ? [this.create(key)] : [];
      const attempts = await Promise.all([this.create(key, prefer), ...duplicate]);
      const haveSucceeded = attempts.every(({ status }) => status === 200 || status === 202);
      await delay(haveSucceeded ? PAUSE_MS : PAUSE_AFTER_ERROR_MS);
    }
  }

  private async send(key: string, more: Record<string, string>): Promise<Pick<Attempt, 'status' | 'item'>> {
    const apis = this.apis();
    const api = apis[this.turn++ % apis.length];
    const headers = { 'Content-Type': 'application/json', ...more };
    const body = JSON.stringify(validInput({ name: key }));
    const signal = AbortSignal.timeout(GIVE_UP_MS);
    const response = await api
      ?.request<Item>('/api/orpc/items/create', { method: 'POST', headers, body, signal })
      .catch(() => undefined);
    if (response === undefined) return { status: 'lost' };
    if (response.status !== 200) return { status: response.status };
    const { id, publicId, slug, createdAt } = response.body;
    return { status: 200, item: { id, publicId, slug, createdAt } };
  }
}
