import { StepError } from '../steps.mjs';
import { Child, describeExit } from './child.mjs';
import { isGroupRunning } from './identity.mjs';
import { whenParentEnds } from './parent.mjs';
import { ReaperPipe } from './reaper-pipe.mjs';
import { RANK, signalGroup, stopInOrder } from './stop-in-order.mjs';
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.mjs';

const APP_GRACE_MS = 10_000;
// npm puts off SIGTERM until it is done; what it leaves half done, the next run finds out and does again.
const COMMAND_GRACE_MS = 2000;
const FIRST_LINES = 10;
// npm hands on a Ctrl-C that the terminal has already delivered: two signals this close together are one.
const SAME_SIGNAL_MS = 500;

/**
 * Runs a tool from its first line to its exit code. Whatever it started is stopped when it returns, fails, is told to
 * stop (SIGINT, SIGTERM, SIGHUP, the end of the npm that runs it) or is killed outright.
 * @param {import('../steps.mjs').Steps} steps
 * @param {(launcher: Launcher) => Promise<number | void>} main resolves to an exit code, 0 when it says nothing
 * @param {{exitCodeWhenStopped?: number}} [options] what a signal makes of the exit code
 */
export async function launch(steps, main, { exitCodeWhenStopped = 0 } = {}) {
  const launcher = new Launcher(steps, exitCodeWhenStopped);
  let code = 1;
  try {
    const work = main(launcher);
    work.catch(() => {}); // Once stopped, what becomes of the work is nobody's news.
    code = (await Promise.race([work, launcher.ended])) ?? 0;
  } catch (error) {
    steps.interrupt();
    steps.fail(error);
  }
  await launcher.stop();
  process.exit(code);
}

/** Everything one tool has started or holds, so that all of it can be given back in order. */
export class Launcher {
  /** Resolves to the exit code when told to stop, rejects when a watched child ends by itself. */
  ended;
  #end;
  #fail;
  #targets = new Map();
  #givingBack = [];
  #reaper = new ReaperPipe();
  #signalledAt;
  #stopping = false;

  constructor(steps, exitCodeWhenStopped) {
    this.steps = steps;
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.ended.catch(() => {}); // It may be rejected while nobody waits for it yet.
    const stop = () => this.#onStopSignal(exitCodeWhenStopped);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
    // A reader that went away (`npm start | head`), a terminal that was closed: nobody is left to talk to.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => this.finish(exitCodeWhenStopped));
    whenParentEnds(() => this.finish(exitCodeWhenStopped));
  }

  /** What is running now. */
  get targets() {
    return [...this.#targets.values()];
  }

  /**
   * Starts a process that is stopped when the launcher is.
   * @param {string} name
   * @param {string} command
   * @param {string[]} args
   * @param {ConstructorParameters<typeof Child>[3] & {rank?: number, graceMs?: number}} [options]
   */
  start(name, command, args, { rank = RANK.app, graceMs = APP_GRACE_MS, ...options } = {}) {
    if (this.#stopping) throw new StepError('stopping');
    const child = new Child(name, command, args, options);
    if (child.identity) this.#keep(child, { ...child.identity, name, rank, graceMs });
    return child;
  }

  /**
   * Runs a command to its end.
   * @param {string} command
   * @param {string[]} args
   * @param {Parameters<Launcher['start']>[3] & {name?: string}} [options]
   * @returns {Promise<string>} its stdout; rejects with a StepError that has its last lines unless it ended well
   */
  async run(command, args, { name = command, ...options } = {}) {
    const collect = options.stdout === undefined;
    // A command's first lines often name the cause, the last ones only the consequences.
    const ours = { collect, keepFirst: FIRST_LINES, graceMs: COMMAND_GRACE_MS };
    const child = this.start(name, command, args, { ...ours, ...options });
    const exit = await child.exited;
    if (exit.code !== 0) throw new StepError(`${name} ${describeExit(exit)}`, { details: child.reportLines() });
    return child.stdout;
  }

  /** From now on, the end of this child is the end of everything. */
  watch(child) {
    child.exited.then((exit) => {
      const details = child.reportLines();
      const message = `${child.name} ${describeExit(exit)}, so everything is stopped`;
      this.#fail(new StepError(details.length > 0 ? `${message}; its last lines:` : message, { details }));
    });
  }

  /** A folder that is removed at the end, however that comes. */
  temporaryFolder(parent) {
    const folder = makeTemporaryFolder(parent);
    this.#reaper.folder(folder);
    this.giveBack(() => removeTemporaryFolder(folder));
    return folder;
  }

  /**
   * Lends `work` such a folder, and removes it as soon as that is done.
   * @template T
   * @param {string} parent
   * @param {(folder: string) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async withTemporaryFolder(parent, work) {
    const folder = this.temporaryFolder(parent);
    try {
      return await work(folder);
    } finally {
      removeTemporaryFolder(folder);
    }
  }

  /** Has something done after everything is stopped; the last one asked for comes first. */
  giveBack(action) {
    this.#givingBack.unshift(action);
  }

  /** Ends the tool with this exit code. */
  finish(code) {
    this.steps.interrupt();
    this.#end(code);
  }

  /** Stops what still runs, in order, and gives back what was held. */
  async stop() {
    this.#stopping = true;
    const running = this.targets.filter(isGroupRunning).sort((a, b) => a.rank - b.rank);
    const names = running.map((target) => target.name).join(', ');
    if (running.length > 0) await this.steps.run(`Stop ${names}`, () => stopInOrder(running));
    for (const action of this.#givingBack) await this.#giveBackOne(action);
    this.#reaper.bye();
  }

  async #giveBackOne(action) {
    try {
      await action();
    } catch (error) {
      this.steps.fail(error); // The others have their turn all the same.
    }
  }

  #onStopSignal(code) {
    const now = performance.now();
    if (this.#signalledAt === undefined) this.finish(code);
    else if (now - this.#signalledAt > SAME_SIGNAL_MS) this.targets.forEach((target) => signalGroup(target, 'SIGKILL'));
    this.#signalledAt = now;
  }

  #keep(child, target) {
    this.#targets.set(target.pid, target);
    this.#reaper.started(target);
    child.exited.then(async () => {
      // What it leaves behind in its group must not outlive it.
      await stopInOrder([target]);
      this.#targets.delete(target.pid);
      this.#reaper.ended(target.pid);
    });
  }
}
