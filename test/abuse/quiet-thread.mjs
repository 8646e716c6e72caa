// A well-behaved client in its own thread, so that the work of the attacker does not delay its requests.
// Sends each request when it is due, even if earlier ones have no response yet. Posts its attempts after a message.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

const EVERY_MS = 100;
const GIVE_UP_MS = 20_000;

const { base, input } = workerData;
const agent = new Agent({ keepAlive: true });
const attempts = [];
let lastId = '';
let isOver = false;

void once(parentPort, 'message').then(() => (isOver = true));
const pending = [];
for (let turn = 0; !isOver; turn += 1) {
  pending.push(attempt('create', input));
  pending.push(
    turn % 2 === 0 || lastId === '' ? attempt('getAll', { pageSize: 10 }) : attempt('getById', { id: lastId }),
  );
  // The first item must exist before it can be read.
  if (turn === 0) await Promise.all(pending);
  else await delay(EVERY_MS);
}
await Promise.all(pending);
agent.destroy();
parentPort.postMessage(attempts);
parentPort.close();

async function attempt(operation, body) {
  const since = performance.now();
  const { status, item } = await send(operation, body).catch(() => ({ status: 'lost' }));
  if (operation === 'create' && status === 200) lastId = item.id;
  attempts.push({ operation, status, afterMs: performance.now() - since });
}

async function send(operation, body) {
  const sent = request(`${base}/api/orpc/items/${operation}`, {
    agent,
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    signal: AbortSignal.timeout(GIVE_UP_MS),
  });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  const chunks = await response.toArray();
  return { status: response.statusCode, item: operation === 'create' ? JSON.parse(Buffer.concat(chunks)) : undefined };
}
