import { setTimeout as delay } from 'node:timers/promises';
import type { Item } from '@app/contracts';
import type { ApiClient } from '../support/api-client.js';
import { uniqueWord, validInput } from '../support/items.js';

/** What of an answered item never differs between two answers to one key. */
export type Answered = Pick<Item, 'id' | 'publicId' | 'slug' | 'createdAt'>;

/** One request and its answer, as a client's own log would have it. */
export interface Attempt {
  /** The Idempotency-Key, which is the item's name as well; of a create without a key its name alone. */
  key: string;
  isKeyed: boolean;
  at: number;
  afterMs: number;
  /** Of the answer; `lost` without one. */
  status: number | 'lost';
  item?: Answered;
}

const CLIENTS = 16;
const PAUSE_MS = 20;
const PAUSE_AFTER_ERROR_MS = 200;
const GIVE_UP_MS = 20_000;
/** Every so many keys one is used twice at once, and for one a 202 is answer enough. */
const TWINS_EVERY = 8;
const ASYNC_EVERY = 5;

/** Clients that create under keys, one item after the other, and remember every answer. */
export class Load {
  readonly attempts: Attempt[] = [];
  private readonly clients: Promise<void>[] = [];
  private isOver = false;
  private keys = 0;
  private turn = 0;

  /** @param apis that are there to ask at the moment */
  constructor(private readonly apis: () => ApiClient[]) {}

  start(): void {
    for (let client = 0; client < CLIENTS; client++) this.clients.push(this.createOnAndOn());
  }

  /** No new creates; returns when those under way are answered. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  /** One create under a key, and its answer. */
  async create(key: string, prefer?: 'respond-async'): Promise<Attempt> {
    return this.attempt(key, { 'Idempotency-Key': key, ...(prefer === undefined ? {} : { Prefer: prefer }) });
  }

  /** One create without a key that is not waited for. */
  async accept(name: string): Promise<Attempt> {
    return this.attempt(name, { Prefer: 'respond-async' });
  }

  private async attempt(key: string, headers: Record<string, string>): Promise<Attempt> {
    const at = Date.now();
    const answer = await this.answerTo(key, headers);
    const isKeyed = 'Idempotency-Key' in headers;
    const attempt = { key, isKeyed, at, afterMs: Date.now() - at, ...answer };
    this.attempts.push(attempt);
    return attempt;
  }

  /**
   * Repeats creates, with their keys, until each is answered with its item.
   *
   * @returns the keys for which that has not happened in time
   */
  async repeat(keys: readonly string[], withinMs: number): Promise<string[]> {
    const end = Date.now() + withinMs;
    const left = [...keys];
    const failed: string[] = [];
    const client = async (): Promise<void> => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) {
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

  /** The answers to each key. */
  byKey(): Map<string, Attempt[]> {
    const attempts = new Map<string, Attempt[]>();
    for (const attempt of this.attempts) {
      const ofKey = attempts.get(attempt.key);
      if (ofKey === undefined) attempts.set(attempt.key, [attempt]);
      else ofKey.push(attempt);
    }
    return attempts;
  }

  private async createOnAndOn(): Promise<void> {
    while (!this.isOver) {
      const key = uniqueWord();
      const count = this.keys++;
      const prefer = count % ASYNC_EVERY === 0 ? 'respond-async' : undefined;
      const twin = count % TWINS_EVERY === 0 ? [this.create(key)] : [];
      const attempts = await Promise.all([this.create(key, prefer), ...twin]);
      const isWell = attempts.every(({ status }) => status === 200 || status === 202);
      await delay(isWell ? PAUSE_MS : PAUSE_AFTER_ERROR_MS);
    }
  }

  private async answerTo(key: string, more: Record<string, string>): Promise<Pick<Attempt, 'status' | 'item'>> {
    const apis = this.apis();
    const api = apis[this.turn++ % apis.length];
    const headers = { 'Content-Type': 'application/json', ...more };
    const body = JSON.stringify(validInput({ name: key }));
    const signal = AbortSignal.timeout(GIVE_UP_MS);
    const answer = await api
      ?.request<Item>('/api/orpc/items/create', { method: 'POST', headers, body, signal })
      .catch(() => undefined);
    if (answer === undefined) return { status: 'lost' };
    if (answer.status !== 200) return { status: answer.status };
    const { id, publicId, slug, createdAt } = answer.body;
    return { status: 200, item: { id, publicId, slug, createdAt } };
  }
}
