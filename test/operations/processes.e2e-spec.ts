import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { ErrorBody } from '@app/contracts';
import { SchemaRepository, type Database } from '@app/database';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { uniqueWord, validInput } from '../support/items.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { openQueue, type OpenQueue } from '../support/queue.js';

/** Processes promise to stop within 9 s, because orchestrators kill them after 10 s. */
const STOPPED_WITHIN_MS = 9500;
/** An idle process stops after the half second that it gives load balancers to stop sending requests. */
const IDLE_STOPPED_WITHIN_MS = 3000;

describe('on a signal to stop', () => {
  let env: NodeJS.ProcessEnv;
  let database: Database;
  let jobs: OpenQueue;

  beforeAll(async () => {
    env = freshEnvironment({ CREATE_WAIT_MS: '60000', LOG_LEVEL: 'info' });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
  });
  beforeEach(() => {
    env = { ...env, QUEUE_PREFIX: `test-${uniqueWord()}` };
    jobs = openQueue(env);
  });
  afterEach(async () => {
    await jobs.close();
    await endProcesses();
  });
  afterAll(async () => {
    await database.connection.dropDatabase();
    await database.close();
  });

  async function startReady(name: 'api' | 'worker'): Promise<ServiceProcess> {
    const process = ServiceProcess.start(name, env);
    await process.waitForStatus('ready');
    return process;
  }

  describe.each(['api', 'worker'] as const)('the %s', (name) => {
    it.each(['SIGTERM', 'SIGINT'] as const)('an idle process exits with 0 immediately on %s', async (signal) => {
      const process = await startReady(name);
      expect(await process.end(signal)).toMatchObject({ code: 0 });
      expect(process.stoppedAfterMs).toBeLessThan(IDLE_STOPPED_WITHIN_MS);
      expect(process.log.at(-1)?.msg).toBe('stopped');
    });

    it('a process exits with 0 immediately on a signal while it waits for MongoDB and Redis', async () => {
      const unavailable = { MONGODB_URI: 'mongodb://127.0.0.1:1/none', REDIS_URL: 'redis://127.0.0.1:1' };
      const process = ServiceProcess.start(name, { ...env, ...unavailable });
      await process.waitForLog('listening');
      expect(await process.end('SIGTERM', 'SIGTERM')).toMatchObject({ code: 0 });
      expect(process.stoppedAfterMs).toBeLessThan(IDLE_STOPPED_WITHIN_MS);
    });

    it('a stopping process is not kept running by a connection without requests', async () => {
      const process = await startReady(name);
      const { hostname, port } = new URL((await process.client()).base);
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      await once(socket, 'connect');
      expect(await process.end('SIGTERM')).toMatchObject({ code: 0 });
      expect(process.stoppedAfterMs).toBeLessThan(IDLE_STOPPED_WITHIN_MS);
      expect(process.log.at(-1)?.msg).toBe('stopped');
    });
  });

  it('a stopping API returns the ids of creates that still wait after 7 s and exits with 0, also if signalled twice', async () => {
    const api = await startReady('api');
    const client = await api.client();
    const creating = [1, 2, 3].map(() => client.call<ErrorBody & { data: { id: string } }>('create', validInput()));
    await eventually(async () => {
      expect(await jobs.queue.getWaitingCount()).toBe(3);
    });
    const { code } = await api.end('SIGTERM', 'SIGINT', 'SIGTERM');
    for (const { status, headers, body } of await Promise.all(creating)) {
      expect([status, body.data, headers.get('connection')]).toEqual([
        504,
        { id: expect.stringMatching(/^[\da-f]{24}$/) as string, outcome: 'unknown' },
        'close',
      ]);
      // The client can look the item up later, because its job is queued.
      expect(await jobs.queue.getJobState(body.data.id)).toBe('waiting');
    }
    expect(code).toBe(0);
    expect(api.stoppedAfterMs).toBeGreaterThan(6900);
    expect(api.stoppedAfterMs).toBeLessThan(STOPPED_WITHIN_MS);
  });

  it('a stopping API resets no connection, reports that it is not ready, and asks clients to reconnect', async () => {
    const seenReady = new Set<number>();
    const outcomes = new Set<string>();
    const stopUnderLoad = async (): Promise<void> => {
      const api = await startReady('api');
      const { base } = await api.client();
      const agent = new Agent({ keepAlive: true });
      let responses = 0;
      const get = async (): Promise<void> => {
        for (;;) {
          const outcome = await getReady(base, agent);
          outcomes.add(outcome.code);
          if (outcome.status === undefined) return;
          seenReady.add(outcome.status);
          responses++;
        }
      };
      const clients = Promise.all(Array.from({ length: 8 }, get));
      await eventually(() => {
        expect(responses).toBeGreaterThan(50);
      });
      expect(await api.end('SIGTERM')).toMatchObject({ code: 0 });
      await clients;
      agent.destroy();
    };
    // On a busy machine, an API may send no response in its last half second.
    const isSeen = (): boolean => seenReady.has(503) && outcomes.has('close');
    for (let times = 0; times < 5 && !isSeen(); times++) await stopUnderLoad();
    expect(seenReady).toEqual(new Set([200, 503]));
    expect(outcomes).toEqual(new Set(['keep-alive', 'close', 'not connected']));
  });
});

/** Requests readiness over a keep-alive connection. `code` says what happened to the connection. */
function getReady(base: string, agent: Agent): Promise<{ status?: number | undefined; code: string }> {
  return new Promise((resolve) => {
    const sent = request(`${base}/health/ready`, { agent }, (response) => {
      response.resume();
      response.once('end', () => {
        resolve({ status: response.statusCode, code: response.headers.connection ?? 'none' });
      });
    });
    sent.once('error', (error) => {
      // When the listener closes, the operating system resets connections that are not accepted yet.
      resolve({ code: sent.reusedSocket ? `lost: ${error.message}` : 'not connected' });
    });
    sent.end();
  });
}
