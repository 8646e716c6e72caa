import { SchemaRepository, type Database } from '@app/database';
import { sendUnread } from './connections.js';
import { freshEnvironment, openDatabase } from '../support/environment.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';
import { AUDIENCE, ISSUER, KeyServer, newSigningKey, signToken } from '../support/token-issuer.js';

/** How far clients may raise the memory of the process. */
const MAX_MORE_MEGABYTES = 120;
const SAMPLES = 50;
const CONNECTIONS = 100;

describe('an API that checks its callers', () => {
  const key = newSigningKey('unknown');
  const issuer = new KeyServer([key]);
  const sockets: { destroy: () => void }[] = [];
  let database: Database;
  let api: ServiceProcess;

  beforeAll(async () => {
    // Never responds, so that checks take as long as they may.
    issuer.behaviour = () => undefined;
    const env = freshEnvironment({
      NODE_OPTIONS: '--max-old-space-size=256',
      AUTH_JWKS_URL: await issuer.listen(),
      AUTH_ISSUER: ISSUER,
      AUTH_AUDIENCE: AUDIENCE,
      LOG_LEVEL: 'info',
    });
    database = await openDatabase(env);
    await new SchemaRepository(database).createIndexes();
    api = ServiceProcess.start('api', env);
    await api.waitForStatus('degraded');
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await endProcesses();
    await issuer.close();
    await database.connection.dropDatabase();
    await database.close();
  });

  const residentMegabytes = async (): Promise<number> =>
    Number(/^process_resident_memory_bytes (\S+)$/m.exec(await api.metrics())?.[1]) / 1e6;

  it('an API that checks its callers does not buffer each chunk of their bodies meanwhile', async () => {
    const { base } = await api.client();
    const before = await residentMegabytes();
    const head =
      `POST /api/orpc/items/create HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${signToken(key)}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const bytes = head + '1\r\nx\r\n'.repeat(20_000);
    const sending = Array.from({ length: CONNECTIONS }, async () => sockets.push(await sendUnread(base, bytes)));
    await Promise.all(sending);
    for (let samples = 0; samples < SAMPLES; samples += 1)
      expect((await residentMegabytes()) - before).toBeLessThan(MAX_MORE_MEGABYTES);
  });
});
