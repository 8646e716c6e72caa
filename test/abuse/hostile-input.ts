import { SchemaRepository, type Database } from '@app/database';
import type { ApiClient } from '../support/api-client.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { HOSTILE_REQUESTS, type HostileRequest } from '../support/hostile.js';
import { record, store, uniqueWord, validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { RawConnection } from '../support/raw-connection.js';

/** Several times what the slowest of these requests takes. */
const SOON_MS = 3000;
/** Reads come first, because items whose names take a megabyte would take long to list. */
const READS_FIRST = [true, false].flatMap((areReads) =>
  HOSTILE_REQUESTS.filter(({ operation }) => (operation !== 'create') === areReads),
);
/** Memory limit of each process after all requests, which send more than that in total. */
const MAX_MEGABYTES = 450;
const GET_BY_ID = '/api/orpc/items/getById';
const HEAD = `POST ${GET_BY_ID} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;

/** Declares the tests of hostile input. The last one sends all of it again, in this many rounds. */
export function describeHostileInput(rounds: number): void {
  describe('hostile input', () => {
    let database: Database;
    let processes: ServiceProcess[];
    let client: ApiClient;
    const open: RawConnection[] = [];

    beforeAll(async () => {
      // Items may be as large as request bodies.
      const env = freshEnvironment({ LOG_LEVEL: 'info', MAX_ITEM_BYTES: '1048576' });
      database = await openDatabase(env);
      await new SchemaRepository(database).createIndexes();
      // A pattern that backtracks would take forever to match the name.
      await store(database, record({ name: `${'a'.repeat(1000)}!` }));
      processes = (['api', 'worker'] as const).map((name) => ServiceProcess.start(name, env));
      await Promise.all(processes.map((process) => process.waitForStatus('ready')));
      client = (await processes[0]?.client()) as ApiClient;
    });
    afterEach(() => {
      for (const connection of open.splice(0)) connection.destroy();
    });
    afterAll(async () => {
      await database.connection.dropDatabase();
      await database.close();
      await endProcesses();
    });

    const expectStatus = async ({ operation, body, headers, status }: HostileRequest): Promise<void> => {
      const all = { 'Content-Type': 'application/json', ...headers };
      expect((await client.post(`/api/orpc/items/${operation}`, body, all)).status).toBe(status);
    };
    const connect = async (): Promise<RawConnection> => {
      const connection = await RawConnection.open(client.base);
      open.push(connection);
      return connection;
    };

    it.each(READS_FIRST)('hostile input gets a prompt response: $what → $status', async (request) => {
      // Repeated, because a busy machine adds to the time, which may run out.
      await eventually(async () => {
        const since = Date.now();
        await expectStatus(request);
        expect(Date.now() - since).toBeLessThan(SOON_MS);
      });
    });

    it('hostile input does not affect the responses to other clients', async () => {
      const name = uniqueWord();
      const { id } = await client.create(validInput({ name }));
      expect(await client.getAll({ search: name })).toMatchObject([{ id, name }]);
      expect((await client.getAll()).length).toBeGreaterThan(1);
    });

    it('a search matches a name despite combining marks, but not with homoglyphs', async () => {
      const name = `Crème ${uniqueWord()}`;
      const [, word = ''] = name.split(' ');
      const { id } = await client.create(validInput({ name }));
      const find = async (search: string): Promise<string[]> =>
        (await client.getAll({ search })).map((item) => item.id);
      expect(await find(`cre\u0300me ${word}`)).toEqual([id]);
      expect(await find(`c\u0301r\u0302e\u0303m\u0304e\u0305 ${word}`)).toEqual([id]);
      // The first letter is Cyrillic.
      expect(await find(`\u0441reme ${word}`)).toEqual([]);
    });

    it('a body gets a response even when each byte arrives in a chunk of its own', async () => {
      const body = `{"id":"${'x'.repeat(5000)}"}`;
      const chunks = Array.from(body, (byte) => `1;name="${'y'.repeat(20)}"\r\n${byte}\r\n`).join('');
      await eventually(async () => {
        const connection = await connect();
        connection.send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\nTrailer: x\r\n\r\n`);
        expect((await connection.nextResponse()).status).toBe(404);
      });
    });

    it.each([
      ['a chunk longer than any body', 'Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n{'],
      ['a chunk longer than any number', `Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(400)}\r\n{`],
      ['an endless chunk extension', `Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(200_000)}`],
      ['endless trailers', `Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${'X: y\r\n'.repeat(50_000)}\r\n`],
    ])('hostile input is rejected: %s', async (_, bytes) => {
      const connection = await connect();
      const { status } = await connection.send(`${HEAD}${bytes}`).halfClose().nextResponse();
      expect([400, 413, 431]).toContain(status);
    });

    it('a client gets responses in order when it sends five thousand requests at once', async () => {
      const ids = Array.from({ length: 5000 }, (_, index) => `n${String(index)}`);
      const connection = await connect();
      connection.send(ids.map((id) => `${HEAD}X-Request-Id: ${id}\r\nContent-Length: 10\r\n\r\n{"id":"x"}`).join(''));
      for (const id of ids) {
        const { status, headers } = await connection.nextResponse();
        expect([status, headers.get('x-request-id')]).toEqual([404, id]);
      }
    });

    const again = rounds > 0 ? 'sent concurrently and repeatedly ' : '';
    it(`hostile input ${again}exhausts no memory, ends no process and logs no error`, async () => {
      // Otherwise most of the work would be listing items whose names take a megabyte.
      await database.models.items.deleteMany({});
      const requests = HOSTILE_REQUESTS.filter(({ operation, status }) => operation !== 'create' || status !== 200).map(
        (request) => ({ ...request, body: Buffer.from(request.body) }),
      );
      for (let round = 0; round < rounds; round += 1) {
        for (let at = 0; at < requests.length; at += 10) {
          const batch = requests.slice(at, at + 10);
          await Promise.all(batch.map((request) => eventually(() => expectStatus(request))));
        }
      }
      for (const process of processes) {
        expect(process.isRunning).toBe(true);
        expect(await megabytesOf(process)).toBeLessThan(MAX_MEGABYTES);
        expect(process.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
      }
    });
  });
}

async function megabytesOf(process: ServiceProcess): Promise<number> {
  const metrics = await process.metrics();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1]) / 1e6;
}
