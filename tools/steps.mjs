// Not by name: an older Node.js lacks `styleText`, and has to get as far as its check in node-version.mjs.
import util from 'node:util';

const SLOW_MS = 1500;

/** A failure that a person can act on: what went wrong, the lines that show it, and a hint. */
export class StepError extends Error {
  constructor(message, { hint, details = [] } = {}) {
    super(message);
    this.name = 'StepError';
    this.hint = hint;
    this.details = details;
  }
}

/** Prints a line when a step ends, with the time it took, and another if the step is slow. */
export class Steps {
  #stream;
  #interruptions = 0;

  constructor(stream = process.stdout) {
    this.#stream = stream;
  }

  /** Runs a step, and returns its result. If it fails, prints the reason and rethrows the error. */
  async run(title, work) {
    return this.#run(title, work, 'red', 'FAIL');
  }

  /** Runs a step that may fail, because there is an alternative. If it fails, prints the reason. */
  async attempt(title, work) {
    return this.#run(title, work, 'dim', '--  ').catch(() => undefined);
  }

  /** Prints a separate line, even in the middle of a step. */
  print(text) {
    this.#stream.write(`${text}\n`);
  }

  /**
   * Prints the message, details and hint of a `StepError`; the message of a system error, such as a full disk; or the
   * stack of any other error, which is a bug.
   */
  fail(error) {
    if (error?.syscall !== undefined) return this.print(error.message);
    if (!(error instanceof StepError)) return this.print(error?.stack ?? String(error));
    const hint = error.hint === undefined ? [] : [`Hint: ${error.hint}`];
    return this.print([error.message, ...error.details.map((line) => `  ${line}`), ...hint].join('\n'));
  }

  /** Prints no result of the steps that are running now: they fail only because everything is stopped. */
  interrupt() {
    this.#interruptions += 1;
  }

  async #run(title, work, failedColour, failedMark) {
    const interruptions = this.#interruptions;
    const started = performance.now();
    const print = (colour, mark, text) => {
      if (interruptions === this.#interruptions)
        this.print(`${util.styleText(colour, mark, { stream: this.#stream })} ${text}`);
    };
    const slow = setTimeout(() => print('cyan', '... ', title), SLOW_MS);
    try {
      const value = await work();
      print('green', 'ok  ', `${title} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
      return value;
    } catch (error) {
      print(failedColour, failedMark, [title, error.message, reasonIn(error.details)].filter(Boolean).join(': '));
      throw error;
    } finally {
      clearTimeout(slow);
    }
  }
}

/** Returns the line of a program's output that says why it failed: an error of pip or apt, or the last one. */
function reasonIn(lines = []) {
  return lines.findLast((line) => /^(E|ERROR): /.test(line)) ?? lines.findLast((line) => line.trim() !== '');
}
