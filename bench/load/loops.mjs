import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.mjs';

/**
 * Sends the next request of each connection after the response to its last one, until the tally's time is over. Waits
 * for the requests that are then in flight.
 */
export async function closedLoop(port, { connections, next, tally }) {
  await overEach(connectionsTo(port, connections), async (connection) => {
    while (performance.now() < tally.measureUntil) await tally.count(performance.now(), connection.send(next()));
  });
}

/**
 * Sends requests that are due at a steady rate, whether or not the server keeps up, over any free connection. They are
 * timed from when they were due, so that waiting clients cannot hide a stalled server. The connections are opened
 * beforehand, one by one: of a thousand opened at once, any may wait a second for a lost SYN. Ends after `count`
 * requests, or once `until` has settled.
 */
export async function openLoop(port, { connections: size, rate = Infinity, count = Infinity, until, next, tally }) {
  const connections = connectionsTo(port, size);
  for (const connection of connections) await connection.open();
  const begin = performance.now();
  let sent = 0;
  let ended = false;
  void until?.then(() => (ended = true));
  await overEach(connections, async (connection) => {
    while (sent < count && !ended) {
      const due = begin + (sent * 1000) / rate;
      sent += 1;
      const early = due - performance.now();
      if (early > 0) await delay(early);
      // The server is not to blame for a late timer.
      const since = early > 0 ? performance.now() : due;
      await tally.count(since, connection.send(next()));
    }
  });
}

/** @param {number | number[]} port several take turns */
function connectionsTo(port, size) {
  const ports = [port].flat();
  return Array.from({ length: size }, (_, index) => new Connection(ports[index % ports.length]));
}

async function overEach(connections, send) {
  await Promise.all(connections.map(send));
  for (const connection of connections) connection.close();
}
