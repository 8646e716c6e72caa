import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.mjs';

/**
 * Closed loop: each connection sends its next request when it has the answer to the last one, until the tally's time is
 * over; what is under way then is waited for.
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
 * Open loop: requests fall due at a steady rate whether or not the server keeps up, and go out over whichever connection
 * is free. Their time runs from when they were due: a server that stalls cannot hide behind a client that waits. The
 * connections are open before: a thousand that are opened at once may each wait a second for a lost SYN.
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
        // What a timer adds to its millisecond is not the server's doing.
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
