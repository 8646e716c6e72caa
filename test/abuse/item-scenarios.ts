import { createHash } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import { ServiceProcess } from '../support/processes.js';
import { createWith, expectOnlyStatuses, LARGEST, send, sendFor, type AttackRequest } from './attacker.js';
import type { Scenario } from './scenario.js';

/** Just below the limits of a body and of an item, in bytes. */
const [BODY, ITEM] = [1_000_000, 60_000];
const CREATES = 50;
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const WAITING = 128;
const DONE_WITHIN_MS = 60_000;

/** Returns a letter and two alternating combining marks, which normalization has to sort. */
function marks(bytes: number): string {
  return `a${'\u0301\u0323'.repeat(bytes / 4)}`;
}

/** Returns an array of copies of a JSON value, about a megabyte in total. */
function values(json: string): string {
  return `[${`${json},`.repeat(Math.floor(BODY / (json.length + 1)))}${json}]`;
}

function keys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',');
}

/** Bodies that cost far more to process than their size suggests. */
const COSTLY: AttackRequest[] = [
  createWith('photos', `[${values('1')}]`),
  createWith('photos', `[${values('[]')}]`),
  createWith('photos', `[${values('{}')}]`),
  createWith('photos', `[${values('1234567890123456')}]`),
  createWith('photos', `[${values('0.1234567890123456')}]`),
  createWith('photos', `[${values('[[[[[[1]]]]]]')}]`),
  createWith('photos', `[{${keys(100_000)}}]`),
  createWith('images', values('""')),
  createWith('description', `"${'\\u0041'.repeat(BODY / 6)}"`),
  { operation: 'getAll', body: `{${keys(100_000)}}` },
  { operation: 'getAll', body: `{"x":${values('1')}}` },
  { operation: 'getAll', body: `{"json":{},"meta":${values('[1,"x"]')}}` },
  { operation: 'getById', body: `{"id":"x","y":${values('1234567890123456')}}` },
];

/** Attacks through the content of single requests. */
export function itemScenarios(): Scenario[] {
  return [
    {
      name: 'runs of combining marks in texts',
      attack: async ({ client }, { share }) => {
        const texts = [BODY * share, ITEM].map(marks);
        const creates = texts.flatMap((text) =>
          ['name', 'description'].map((field) => createWith(field, JSON.stringify(`xyz ${text} long enough`))),
        );
        const searches = texts.map((search): AttackRequest => ({
          operation: 'getAll',
          body: JSON.stringify({ search }),
        }));
        expectOnlyStatuses(await send(client, [...creates, ...searches], 4), [200, 413]);
      },
    },
    {
      name: 'the largest items, and lists of them',
      attack: async ({ client }) => {
        const creates = LARGEST.flatMap((attack) => Array.from({ length: CREATES }, () => attack));
        expectOnlyStatuses(await send(client, creates, CREATES), [200, 413]);
        for (const pageSize of [50, 100]) {
          const page = JSON.stringify(await client.getAll({ pageSize }));
          expect(Buffer.byteLength(page)).toBeLessThan(MAX_PAGE_BYTES);
        }
      },
    },
    {
      name: 'jobs of the largest items, all taken by one worker',
      prepare: async (env) => {
        const api = ServiceProcess.start('api', env);
        await api.waitForStatus('ready');
        const attacks = LARGEST.flatMap((attack) => {
          return Array.from({ length: WAITING }, () => ({ ...attack, headers: { Prefer: 'respond-async' } }));
        });
        expectOnlyStatuses(await send(await api.client(), attacks, 8), [202, 413]);
        await api.end('SIGTERM');
      },
      attack: ({ jobs: { queue } }) =>
        eventually(async () => {
          // The quiet client's own jobs come and go.
          expect(await queue.getJobCountByTypes('wait', 'active', 'delayed')).toBeLessThan(WAITING / 10);
        }, DONE_WITHIN_MS),
    },
    {
      name: 'bodies that cost more than their bytes, from four clients',
      attack: async ({ client }, { seconds }) => {
        expectOnlyStatuses(await sendFor(client, COSTLY, 4, seconds), [200, 400, 404, 413]);
      },
    },
    {
      name: 'the id of another client, computed from a guessed key',
      attack: async ({ client }) => {
        const key = `order-${uniqueWord()}`;
        const { status } = await client.call('create', validInput(), { 'Idempotency-Key': key });
        expect(status).toBe(200);
        const hash = createHash('sha256').update(JSON.stringify(['v1', 'anonymous', key]));
        const guess = { id: hash.digest('hex').slice(0, 24) };
        expect((await client.call('getById', guess)).status).toBe(404);
      },
    },
  ];
}
