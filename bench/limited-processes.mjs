import { anyFreePort } from '../tools/processes/ports.mjs';
import { runCli, serviceArguments } from '../tools/start/services.mjs';
import { CpuLimit } from './cpu-limit.mjs';
import { call, hasUnindexed, startChild, startSubject } from './subjects.mjs';

/** Starts an API without a limit and without workers, on a database with the demo catalogue. */
export async function startApi({ launcher, databases }, env) {
  for (const command of ['setup', 'demo']) await runCli(launcher, command, env);
  const db = databases.db('service');
  const service = await startSubject(launcher, 'service', env, { processes: ['api'] });
  const [{ id }] = await call(service.port, 'getAll', { pageSize: 1 });
  const countItems = () => db.collection('items').countDocuments();
  return { ...service, itemId: id, countItems, hasUnindexed: () => hasUnindexed(db) };
}

/** Processes of one kind. */
export class Pool {
  #launcher;
  #kind;
  #env;
  #members = [];
  #limits = [];

  constructor(launcher, kind, env) {
    this.#launcher = launcher;
    this.#kind = kind;
    this.#env = env;
  }

  /** Starts this many for a subject, and waits until they are ready. */
  async start(count, subject) {
    this.#members = await Promise.all(Array.from({ length: count }, (_, index) => this.#startMember(index)));
    const pids = this.#members.map(({ child }, index) => [`${this.#kind} ${index + 1}`, child.pid]);
    // The load goes to all APIs.
    if (this.#kind === 'api') subject.port = this.#members.map(({ port }) => port);
    else subject.pids = { api: subject.pids.api, ...Object.fromEntries(pids) };
  }

  /** Limits each to this share of a core, from now on. */
  limit(cores) {
    this.#limits = this.#members.map(({ child }, index) => {
      const limit = new CpuLimit(`item-listing-bench-${process.pid}-${index}`, cores);
      limit.add(child.pid);
      return limit;
    });
  }

  async stop() {
    await Promise.all(
      this.#members.map(({ child }) => {
        process.kill(child.pid, 'SIGTERM');
        return child.exited;
      }),
    );
    for (const limit of this.#limits) limit.remove();
    this.#limits = [];
  }

  async #startMember(index) {
    const port = await anyFreePort();
    const env = { ...this.#env, PORT: String(port), WORKER_PORT: String(port) };
    const name = `${this.#kind} ${index + 1}`;
    const child = await startChild(this.#launcher, name, serviceArguments(this.#kind), port, env);
    return { child, port };
  }
}
