import { execFile } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/database-servers.js';
import { freshEnvironment } from '../support/environment.js';
import { eventually } from '../support/eventually.js';
import { endProcesses, ServiceProcess } from '../support/processes.js';

const run = promisify(execFile);
const FULL_DISK = '/dev/full';
/** Orchestrators kill processes 10 s after SIGTERM. */
const STOPPED_WITHIN_MS = 9500;
const REQUESTS = 50;
const describeWithFullDisk = existsSync(FULL_DISK) ? describe : describe.skip;
const describeWithPipes = process.platform === 'win32' ? describe.skip : describe;

describe('the log that cannot be written', () => {
  let folder: string;
  let stdout: number | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'log-'));
  });
  afterEach(async () => {
    await endProcesses();
    if (stdout !== undefined) closeSync(stdout);
  });
  afterAll(async () => {
    await rm(folder, { recursive: true });
  });

  /** Opens a full pipe that nobody reads. */
  async function openStalledPipe(): Promise<number> {
    const path = join(folder, 'pipe');
    await rm(path, { force: true });
    await run('mkfifo', [path]);
    const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    const fill = (): void => {
      for (;;) writeSync(pipe, '\n'.repeat(512));
    };
    expect(fill).toThrow('EAGAIN');
    return pipe;
  }

  function servesAndStops(open: () => number | Promise<number>): void {
    it.each(['api', 'worker'] as const)('the %s serves requests and stops on SIGTERM', async (name) => {
      stdout = await open();
      const port = String(await freePort());
      const settings = { LOG_LEVEL: 'info', LOG_ACCESS: 'on', PORT: port, WORKER_PORT: port };
      const service = ServiceProcess.start(name, freshEnvironment(settings), undefined, stdout);
      const isLive = async (): Promise<void> => {
        expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
      };
      // A process starts in this time.
      await eventually(isLive, 60_000);
      for (let requests = 0; requests < REQUESTS; requests += 1) await isLive();
      const { code, afterMs } = await service.end('SIGTERM');
      expect(code).toBe(0);
      expect(afterMs).toBeLessThan(STOPPED_WITHIN_MS);
    });
  }

  describeWithFullDisk(`on a full disk (skipped unless there is ${FULL_DISK})`, () => {
    servesAndStops(() => openSync(FULL_DISK, 'w'));
  });

  describeWithPipes('into a pipe that nobody reads (skipped on Windows)', () => {
    servesAndStops(openStalledPipe);
  });
});
