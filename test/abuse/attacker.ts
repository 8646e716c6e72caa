import type { ApiClient } from '../support/api-client.js';
import { validInput } from '../support/items.js';

const GIVE_UP_MS = 60_000;

/** The size of an attack: all of it, or a part that fits into `npm test`. */
export interface Scale {
  /** The duration of an attack that does not end on its own. */
  seconds: number;
  /** The fraction of the requests that are sent, up to 1. */
  share: number;
}

/** One request of an attacker. */
export interface AttackRequest {
  operation: 'getAll' | 'getById' | 'create';
  body: string;
  headers?: Record<string, string>;
}

/** Returns a create in which one field has the given JSON text as its value. */
export function createWith(field: string, json: string): AttackRequest {
  const body = JSON.stringify(validInput({ [field]: '<here>' })).replace('"<here>"', () => json);
  return { operation: 'create', body };
}

/** Creates with long descriptions: one nearly as large as a body may be, and one nearly as large as an item may be. */
export const LARGEST = [1_000_000, 60_000].map((length) =>
  createWith('description', JSON.stringify('x '.repeat(length / 2))),
);

/** Sends requests from several clients, each one request at a time. Returns the number of responses by status. */
export async function send(
  client: ApiClient,
  attacks: AttackRequest[],
  clients: number,
): Promise<Map<number | 'lost', number>> {
  const counts = new Map<number | 'lost', number>();
  const remaining = [...attacks];
  const runClient = async (): Promise<void> => {
    for (let attack = remaining.shift(); attack !== undefined; attack = remaining.shift()) {
      const status = await statusOf(client, attack);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, runClient));
  return counts;
}

/** Sends the requests again and again for some seconds. */
export async function sendFor(
  client: ApiClient,
  attacks: AttackRequest[],
  clients: number,
  seconds: number,
): Promise<Map<number | 'lost', number>> {
  const end = Date.now() + seconds * 1000;
  const all = new Map<number | 'lost', number>();
  while (Date.now() < end) {
    for (const [status, count] of await send(client, attacks, clients)) all.set(status, (all.get(status) ?? 0) + count);
  }
  return all;
}

/** Expects that no response had any other status. */
export function expectOnlyStatuses(counts: Map<number | 'lost', number>, allowed: number[]): void {
  const others = [...counts].filter(([status]) => !allowed.includes(Number(status)));
  expect(Object.fromEntries(others)).toEqual({});
}

async function statusOf(client: ApiClient, { operation, body, headers }: AttackRequest): Promise<number | 'lost'> {
  try {
    const response = await fetch(`${client.base}/api/orpc/items/${operation}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 'lost';
  }
}
