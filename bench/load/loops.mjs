import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.mjs';

/**
 * Runs a closed loop: each connection sends its next request after the response to the last one, until the tally's time
 * is over. Waits for the requests that are then in flight.
 * @param {number} port
 * @param {{connections: number, next: () => Buffer, tally: import('./tally.mjs').Tally}} options
 */
export async function closedLoop(port, { connections, next, tally }) {
  const clients = connectionsTo(port, connections);
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() < tally.measureUntil) await tally.count(performance.now(), client.send(next()));
    }),
  );
  clients.forEach((client) => client.close());
}

/**
 * Runs an open loop: requests are due at a steady rate, whether or not the server keeps up, and are sent over any free
 * connection. They are timed from when they were due, so that waiting clients cannot hide a stalled server. The
 * connections are opened beforehand, one by one: of a thousand opened at once, any may wait a second for a lost SYN.
 * @param {number} port
 * @param {{connections: number, rate: number, count?: number, until?: Promise<unknown>, next: () => Buffer,
 *   tally: import('./tally.mjs').Tally}} options ends after `count` requests, or once `until` has settled
 */
export async function openLoop(port, { connections, rate, count = Infinity, until, next, tally }) {
  const clients = connectionsTo(port, connections);
  for (const client of clients) await client.open();
  const begin = performance.now();
  let sent = 0;
  let ended = false;
  void until?.then(() => (ended = true));
  await Promise.all(
    clients.map(async (client) => {
      while (sent < count && !ended) {
        const due = begin + (sent * 1000) / rate;
        sent += 1;
        const early = due - performance.now();
        if (early > 0) await delay(early);
        // The server is not to blame for a late timer.
        const since = early > 0 ? performance.now() : due;
        await tally.count(since, client.send(next()));
      }
    }),
  );
  clients.forEach((client) => client.close());
}

function connectionsTo(port, count) {
  return Array.from({ length: count }, () => new Connection(port));
}
