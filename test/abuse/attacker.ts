import type { ApiClient } from '../support/api-client.js';
import { validInput } from '../support/items.js';

const GIVE_UP_MS = 30_000;

/** How much of an attack there is: all of it, or what fits into the tests of every change. */
export interface Scale {
  /** How long an attack without an end of its own lasts. */
  seconds: number;
  /** Of the number of requests. */
  share: number;
}

/** One request of an attacker. */
export interface Attack {
  operation: 'getAll' | 'getById' | 'create';
  body: string;
  headers?: Record<string, string>;
}

/** Characters of JSON for a create one of whose fields is these characters of JSON. */
export function createWith(field: string, json: string): Attack {
  const body = JSON.stringify(validInput({ [field]: '<here>' })).replace('"<here>"', () => json);
  return { operation: 'create', body };
}

/** Creates whose descriptions are so long, so that each is as large as one may be, under this rule or that one. */
export const LARGEST = [1_000_000, 60_000].map((length) =>
  createWith('description', JSON.stringify('x '.repeat(length / 2))),
);

/** Sends requests as so many clients do, each its next one when it has its answer; tells how many got which status. */
export async function send(
  client: ApiClient,
  attacks: Attack[],
  clients: number,
): Promise<Map<number | 'lost', number>> {
  const answers = new Map<number | 'lost', number>();
  const left = [...attacks];
  const sendOn = async (): Promise<void> => {
    for (let attack = left.shift(); attack !== undefined; attack = left.shift()) {
      const status = await answerTo(client, attack);
      answers.set(status, (answers.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, sendOn));
  return answers;
}

/** Sends them again and again for so long. */
export async function sendFor(
  client: ApiClient,
  attacks: Attack[],
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

/** Expects that nobody was answered anything else. */
export function expectOnly(answers: Map<number | 'lost', number>, allowed: number[]): void {
  const others = [...answers].filter(([status]) => !allowed.includes(Number(status)));
  expect(Object.fromEntries(others)).toEqual({});
}

async function answerTo(client: ApiClient, { operation, body, headers }: Attack): Promise<number | 'lost'> {
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
