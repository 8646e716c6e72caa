import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StepError } from '../steps.mjs';
import { describeExit, startChild } from './child.mjs';
import { RANK, signal, stopInOrder } from './stop-in-order.mjs';

const REAPER = fileURLToPath(new URL('./reaper.mjs', import.meta.url));
/** As a shell reports a program that Ctrl-C has ended. */
const INTERRUPTED = 130;
/** A terminal sends SIGINT for Ctrl-C, SIGQUIT for Ctrl-\, and SIGHUP when it is closed. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const APP_GRACE_MS = 10_000;
// npm defers SIGTERM until it is done. Work that is cut short is detected and repeated by the next run.
const COMMAND_GRACE_MS = 2000;
// npm forwards a Ctrl-C that the terminal has already delivered: two signals this close together count as one.
const SAME_SIGNAL_MS = 500;
const PARENT_POLL_INTERVAL_MS = 500;

/**
 * Runs a tool and exits with its exit code. Everything it has started is stopped when it returns, throws, is told to
 * stop ({@link STOP_SIGNALS}, or the npm that runs it exits) or is killed.
 * @param {(launcher: Launcher) => Promise<number | void>} main resolves to the exit code, 0 by default
 */
export async function launch(steps, main, { exitCodeWhenStopped = INTERRUPTED, exitCodeOnFailure = 1 } = {}) {
  const launcher = new Launcher(steps, exitCodeWhenStopped);
  let code = exitCodeOnFailure;
  try {
    code = (await Promise.race([main(launcher), launcher.ended])) ?? 0;
  } catch (error) {
    steps.interrupt();
    steps.fail(error);
  }
  await launcher.stop();
  process.exit(code);
}

/** Keeps track of everything that a tool has started, so that all of it can be stopped in order. */
export class Launcher {
  /** What is currently running, in the order of starting. */
  targets = [];
  /** Resolves to the exit code when asked to stop. Rejects when a watched child exits on its own. */
  ended;
  #end;
  #fail;
  #paths = [];
  #reaper;
  #signalledAt;
  #stopping = false;

  constructor(steps, exitCodeWhenStopped) {
    this.steps = steps;
    this.ended = new Promise((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.#reaper = startReaper();
    for (const name of STOP_SIGNALS) process.on(name, () => this.#onStopSignal(exitCodeWhenStopped));
    // The reader has exited (`npm start | head`), or the terminal was closed.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => this.finish(exitCodeWhenStopped));
    // Killing npm does not end its script, which only gets another parent.
    const { ppid } = process;
    const checkParent = () => process.ppid !== ppid && this.finish(exitCodeWhenStopped);
    if (process.env.npm_lifecycle_event !== undefined) setInterval(checkParent, PARENT_POLL_INTERVAL_MS).unref();
  }

  /** Starts a process that is stopped together with the launcher. For the other parameters see {@link startChild}. */
  start(name, command, args, { rank = RANK.app, graceMs = APP_GRACE_MS, ...options } = {}) {
    if (this.#stopping) throw new StepError('stopping');
    const child = { ...startChild(name, command, args, options), rank, graceMs };
    if (child.pid === undefined) return child;
    this.targets.push(child);
    this.#informReaper();
    child.exited.then(() => {
      this.targets = this.targets.filter((target) => target !== child);
      this.#informReaper();
    });
    return child;
  }

  /** Runs a command to completion. Returns its stdout. If it fails, throws a StepError that contains its output. */
  async run(command, args, { name = command, ...options } = {}) {
    return this.outputOf(this.start(name, command, args, { collect: true, graceMs: COMMAND_GRACE_MS, ...options }));
  }

  /** Waits until a child with `collect` has exited. Returns its stdout, or throws like {@link run}. */
  async outputOf({ name, exited, lines }) {
    const exit = await exited;
    if (exit.code !== 0) throw new StepError(`${name} ${describeExit(exit)}`, { details: lines });
    return exit.stdout;
  }

  /** Stops everything if this child exits. */
  watch(child) {
    child.exited.then((exit) => {
      const message = `${child.name} ${describeExit(exit)}, so everything is stopped`;
      this.#fail(new StepError(message, { details: child.reportLines() }));
    });
  }

  /** Removes a file or folder at the end, even after a kill. The last one registered is removed first. */
  removeAtEnd(path) {
    this.#paths.unshift(path);
    this.#informReaper();
  }

  /** Creates a folder that is removed at the end, even after a kill. */
  temporaryFolder(parent) {
    const folder = mkdtempSync(join(parent, '.item-listing-service-tmp-'));
    this.removeAtEnd(folder);
    return folder;
  }

  finish(code) {
    if (!this.#stopping) this.steps.interrupt();
    this.#end(code);
  }

  /** Stops everything that is still running, in order, and removes what is to be removed. */
  async stop() {
    this.#stopping = true;
    const running = this.targets.toSorted((a, b) => a.rank - b.rank);
    const names = running.map((target) => target.name).join(', ');
    if (running.length > 0) await this.steps.run(`Stop ${names}`, () => stopInOrder(running));
    this.#paths.forEach(remove);
    await new Promise((resolve) => this.#reaper.send({ targets: [], paths: [] }, resolve));
  }

  #informReaper() {
    const targets = this.targets.map(({ pid, rank, graceMs }) => ({ pid, rank, graceMs }));
    this.#reaper.send({ targets, paths: this.#paths });
  }

  #onStopSignal(code) {
    const now = performance.now();
    if (this.#signalledAt === undefined) this.finish(code);
    else if (now - this.#signalledAt > SAME_SIGNAL_MS) this.targets.forEach(({ pid }) => signal(-pid, 'SIGKILL'));
    this.#signalledAt = now;
  }
}

function startReaper() {
  // Without the environment: its NODE_OPTIONS may contain the port of a debugger, which is already in use.
  const reaper = fork(REAPER, { env: {}, execArgv: [], detached: true, stdio: 'ignore' });
  // Without the reaper, everything works except for cleaning up after a kill.
  reaper.on('error', () => {});
  reaper.unref();
  reaper.channel?.unref();
  return reaper;
}

function remove(path) {
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
