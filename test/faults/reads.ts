import { setTimeout as delay } from 'node:timers/promises';
import type { GetAllInput } from '@app/contracts';
import type { ApiClient } from '../support/api-client.js';
import type { Load } from './load.js';

const CLIENTS = 2;
const PAUSE_MS = 50;
/** Inputs of getAll that read different indexes. */
const LISTS: GetAllInput[] = [
  {},
  { categoryId: '7' },
  { status: 'available' },
  { categoryId: '7', status: 'available' },
  { search: 'gears' },
];

/** Clients that read lists and the items that a load has created, one after the other, and record what fails. */
export class Reads {
  /** Reads that did not return what is stored, with their responses. */
  readonly failures: string[] = [];
  private readonly clients: Promise<void>[] = [];
  private isOver = false;
  private turn = 0;

  /** @param apis returns the APIs that currently receive requests */
  constructor(
    private readonly apis: () => ApiClient[],
    private readonly load: Load,
  ) {}

  /** How many reads were sent. */
  get count(): number {
    return this.turn;
  }

  start(): void {
    for (let client = 0; client < CLIENTS; client++) this.clients.push(this.readRepeatedly());
  }

  /** Stops reading, and resolves when the pending reads have finished. */
  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async readRepeatedly(): Promise<void> {
    while (!this.isOver) {
      const turn = this.turn++;
      await (turn % 2 === 0 ? this.readItem(turn) : this.readList(turn));
      await delay(PAUSE_MS);
    }
  }

  private async readItem(turn: number): Promise<void> {
    const { attempts } = this.load;
    const item = attempts[Math.floor(Math.random() * attempts.length)]?.item;
    if (item === undefined) return;
    await this.read(turn, 'getById', { id: item.id }, (body) => {
      expect(body).toMatchObject(item);
    });
  }

  private async readList(turn: number): Promise<void> {
    const input = LISTS[Math.floor(turn / 2) % LISTS.length] ?? {};
    // Until a burst is over, a search may find none of its items.
    const isFilled = input.search === undefined;
    await this.read(turn, 'getAll', input, (body) => {
      if (isFilled) expect(body).not.toEqual([]);
    });
  }

  private async read(turn: number, operation: string, input: object, check: (body: unknown) => void): Promise<void> {
    const apis = this.apis();
    try {
      const response = await apis[turn % apis.length]?.callOnce<unknown>(operation, input);
      if (response?.status !== 200) throw new Error(JSON.stringify(response));
      check(response.body);
    } catch (error) {
      this.failures.push(`${operation} ${JSON.stringify(input)}: ${String(error)}`);
    }
  }
}
