import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { record, store, uniqueWord } from '../support/items.js';
import { get, inChunks, isClosedWithin, post, sendUnread } from './connections.js';
import type { Scenario } from './scenario.js';

const CHUNKS = 1_000_000;
const LARGE_ITEMS = 100;
const SLOW_READERS = 100;
/** Each sends a thousand requests. */
const CONNECTIONS = 5;
/** A reader without progress is disconnected after 30 s. */
const CUT_OFF_MS = 45_000;

/** Attacks through the way in which requests are sent and responses are read. */
export function connectionScenarios(): Scenario[] {
  return [
    {
      name: 'bodies in chunks of one byte, over three connections',
      apiEnv: { NODE_OPTIONS: '--max-old-space-size=512' },
      attack: async ({ client: { base } }, { seconds, share }) => {
        const bytes = inChunks(CHUNKS * (share + 1) * 0.5);
        const sockets = await Promise.all([1, 2, 3].map(() => sendUnread(base, bytes)));
        // The last chunk is held back.
        await delay(seconds * 1000);
        for (const socket of sockets) socket.end('0\r\n\r\n');
        await Promise.all(sockets.map((socket) => isClosedWithin(socket, CUT_OFF_MS)));
      },
    },
    {
      name: 'three hundred pipelined requests for the largest file of the docs',
      attack: async ({ client: { base } }, { seconds }) => {
        const socket = await sendUnread(base, get('/docs/swagger-ui-bundle.js').repeat(300));
        await delay(seconds * 1000);
        socket.destroy();
      },
    },
    {
      name: 'thousands of pipelined questions for readiness',
      attack: async ({ client: { base } }, { seconds }) => {
        const end = Date.now() + seconds * 1000;
        while (Date.now() < end) {
          const sockets = await Promise.all(
            Array.from({ length: CONNECTIONS }, () => sendUnread(base, get('/health/ready').repeat(1000))),
          );
          await delay(1000);
          sockets.forEach((socket) => socket.destroy());
        }
      },
    },
    {
      name: 'large pages that nobody reads',
      attack: async ({ client: { base }, database }, { seconds, share }) => {
        const description = 'x '.repeat(30_000);
        // Boosted, so that the items of the quiet client do not come before them.
        const boost = { isBoosted: true, boostScore: 1, boostExpiresAt: new Date(Date.now() + 3_600_000) };
        await store(database, ...Array.from({ length: LARGE_ITEMS }, () => record({ description, ...boost })));
        const readers = Array.from({ length: SLOW_READERS * share }, (_, index) => {
          const pages = [0, 1, 2].map((less) =>
            post('getAll', JSON.stringify({ pageSize: 100 - less - (index % 20) })),
          );
          return sendUnread(base, pages.join(''));
        });
        const sockets = await Promise.all(readers);
        // Only the full attack lasts until they are disconnected.
        await delay(share < 1 ? seconds * 1000 : CUT_OFF_MS);
        const closed = await Promise.all(sockets.map((socket) => isClosedWithin(socket, share < 1 ? 0 : 5000)));
        sockets.forEach((socket) => socket.destroy());
        if (share === 1) expect(closed.filter((isClosed) => !isClosed)).toEqual([]);
      },
    },
    {
      name: 'forged addresses of clients',
      env: { TRUST_PROXY: '1' },
      attack: () => Promise.resolve(),
      afterwards: async ({ stores: { mongod }, client, api }) => {
        const forged = uniqueWord();
        await mongod.pause();
        try {
          const headers = { 'X-Forwarded-For': `1.2.3.4, ${forged}` };
          expect((await client.callOnce('getById', { id: '0'.repeat(24) }, headers)).status).toBe(503);
          const { ip } = await api.waitForLog('MongoDB is unavailable');
          expect(ip).toBe('127.0.0.1');
          await eventually(() => {
            expect(JSON.stringify(api.log)).not.toContain(forged);
          });
        } finally {
          mongod.resume();
        }
      },
    },
  ];
}
