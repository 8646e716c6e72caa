import { StepError } from '../steps.mjs';
import { Child, describeExit } from './child.mjs';
import { isGroupRunning } from './identity.mjs';
import { onParentExit } from './parent.mjs';
import { ReaperPipe } from './reaper-pipe.mjs';
import { RANK, signalGroup, stopInOrder } from './stop-in-order.mjs';
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.mjs';

const APP_GRACE_MS = 10_000;
// npm defers SIGTERM until it is done. Work that is cut short is detected and repeated by the next run.
const COMMAND_GRACE_MS = 2000;
const FIRST_LINES = 10;
// npm forwards a Ctrl-C that the terminal has already delivered: two signals this close together count as one.
const SAME_SIGNAL_MS = 500;

/**
 * Runs a tool and exits with its exit code. Everything it has started is stopped when it returns, throws, is told to
 * stop (SIGINT, SIGTERM, SIGHUP, or the npm that runs it exits) or is killed.
 * @param {import('../steps.mjs').Steps} steps
 * @param {(launcher: Launcher) => Promise<number | void>} main resolves to the exit code, 0 by default
 * @param {{exitCodeWhenStopped?: number}} [options] the exit code after a signal
 */
export async function launch(steps, main, { exitCodeWhenStopped = 0 } = {}) {
  const launcher = new Launcher(steps, exitCodeWhenStopped);
  let code = 1;
  try {
    const work = main(launcher);
    work.catch(() => {}); // After a stop, the outcome of the work no longer matters.
    code = (await Promise.race([work, launcher.ended])) ?? 0;
  } catch (error) {
    steps.interrupt();
    steps.fail(error);
  }
  await launcher.stop();
  process.exit(code);
}

/** Keeps track of everything that a tool has started or holds, so that all of it can be released in order. */
export class Launcher {
  /** Resolves to the exit code when asked to stop. Rejects when a watched child exits on its own. */
  ended;
  #end;
  #fail;
  #targets = new Map();
  #cleanups = [];
  #reaper = new ReaperPipe();
  #signalledAt;
  #stopping = false;

  constructor(steps, exitCodeWhenStopped) {
    this.steps = steps;
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.ended.catch(() => {}); // It may reject before anything awaits it.
    const stop = () => this.#onStopSignal(exitCodeWhenStopped);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop);
    // The reader has exited (`npm start | head`), or the terminal was closed.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => this.finish(exitCodeWhenStopped));
    onParentExit(() => this.finish(exitCodeWhenStopped));
  }

  /** What is currently running. */
  get targets() {
    return [...this.#targets.values()];
  }

  /**
   * Starts a process that is stopped together with the launcher.
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
   * Runs a command to completion.
   * @param {string} command
   * @param {string[]} args
   * @param {Parameters<Launcher['start']>[3] & {name?: string}} [options]
   * @returns {Promise<string>} its stdout; rejects with a StepError that contains lines of its output if it fails
   */
  async run(command, args, { name = command, ...options } = {}) {
    const collect = options.stdout === undefined;
    // The first lines of a command often name the cause, and the last ones only the consequences.
    const ours = { collect, keepFirst: FIRST_LINES, graceMs: COMMAND_GRACE_MS };
    const child = this.start(name, command, args, { ...ours, ...options });
    const exit = await child.exited;
    if (exit.code !== 0) throw new StepError(`${name} ${describeExit(exit)}`, { details: child.reportLines() });
    return child.stdout;
  }

  /** Stops everything if this child exits. */
  watch(child) {
    child.exited.then((exit) => {
      const details = child.reportLines();
      const message = `${child.name} ${describeExit(exit)}, so everything is stopped`;
      this.#fail(new StepError(details.length > 0 ? `${message}; its last lines:` : message, { details }));
    });
  }

  /** Creates a folder that is removed at the end, even after a kill. */
  temporaryFolder(parent) {
    const folder = makeTemporaryFolder(parent);
    this.#reaper.folder(folder);
    this.addCleanup(() => removeTemporaryFolder(folder));
    return folder;
  }

  /**
   * Runs `work` with a temporary folder, and removes the folder as soon as it is done.
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

  /** Registers a cleanup that runs after everything is stopped. The last one registered runs first. */
  addCleanup(action) {
    this.#cleanups.unshift(action);
  }

  /** Ends the tool with this exit code. */
  finish(code) {
    this.steps.interrupt();
    this.#end(code);
  }

  /** Stops everything that is still running, in order, and then runs the cleanups. */
  async stop() {
    this.#stopping = true;
    const running = this.targets.filter(isGroupRunning).sort((a, b) => a.rank - b.rank);
    const names = running.map((target) => target.name).join(', ');
    if (running.length > 0) await this.steps.run(`Stop ${names}`, () => stopInOrder(running));
    for (const action of this.#cleanups) await this.#runCleanup(action);
    this.#reaper.done();
  }

  async #runCleanup(action) {
    try {
      await action();
    } catch (error) {
      this.steps.fail(error); // The other cleanups still run.
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
      // Processes that it leaves in its group must not outlive it.
      await stopInOrder([target]);
      this.#targets.delete(target.pid);
      this.#reaper.ended(target.pid);
    });
  }
}
