import { freshEnvironment } from '../support/environment.js';
import { killProcesses, ServiceProcess } from '../support/processes.js';

describe('a process with an invalid environment', () => {
  afterEach(async () => {
    await killProcesses();
  });

  it.each([
    ['api', 'MONGODB_URI', ''],
    ['worker', 'REDIS_URL', ''],
    ['worker', 'MONGODB_URI', 'http://user:secret@host'],
    ['api', 'MONGODB_URI', 'mongodb://user:secret@host:port'],
    ['api', 'REDIS_URL', 'redis://user:secret@host:port'],
    ['worker', 'REDIS_URL', 'redis+sentinel://:secret@host'],
    ['worker', 'WORKER_CONCURRENCY', '0'],
    ['api', 'IDEMPOTENCY_SECRET', 'a secret that is too short'],
  ] as const)(
    'a process with an invalid environment exits with code 1 and one line without the value: %s with %s=%j',
    async (name, variable, value) => {
      const process = ServiceProcess.start(name, { ...freshEnvironment(), [variable]: value });
      expect(await process.end()).toMatchObject({ code: 1 });
      expect(process.stderr).toMatch(new RegExp(`^${variable} is (missing|not valid): it must be [^\\n]+\\n$`));
      expect(process.stderr).not.toContain('secret');
      expect(process.log).toEqual([]);
    },
  );

  it.each([
    ['api', 'PORT'],
    ['worker', 'WORKER_PORT'],
  ] as const)('a process exits with code 1 when its port is taken: %s', async (name, variable) => {
    const { port } = new URL(process.env['REDIS_URL'] ?? '');
    const started = ServiceProcess.start(name, { ...freshEnvironment(), [variable]: port });
    expect(await started.end()).toMatchObject({ code: 1 });
    expect(started.stderr).toMatch(new RegExp(`^HOST or ${variable} is not valid: [^\\n]+ EADDRINUSE[^\\n]+\\n$`));
  });
});
