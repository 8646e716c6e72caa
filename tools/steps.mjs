import { styleText } from 'node:util';

const SLOW_MS = 1500;

/** A failure that a person can act on: what went wrong, the lines that show it, and a hint. */
export class StepError extends Error {
  /**
   * @param {string} message one sentence without the final period
   * @param {{hint?: string, details?: string[], cause?: unknown}} [more]
   */
  constructor(message, { hint, details = [], cause } = {}) {
    super(message, { cause });
    this.name = 'StepError';
    this.hint = hint;
    this.details = details;
  }
}

/** Prints a line when a step ends, with the time it took, and another if the step is slow. */
export class Steps {
  #stream;
  #interruptions = 0;

  /** @param {NodeJS.WriteStream} [stream] where the lines go */
  constructor(stream = process.stdout) {
    this.#stream = stream;
  }

  /**
   * Runs a step. If it fails, prints its title and rethrows the error.
   * @template T
   * @param {string} title what is done
   * @param {() => Promise<T> | T} work
   * @returns {Promise<T>}
   */
  async run(title, work) {
    return this.#run(title, work, (end) => end('red', 'FAIL', title));
  }

  /**
   * Runs a step that may fail, because there is an alternative. If it fails, prints the reason and returns undefined.
   * @template T
   * @param {string} title
   * @param {() => Promise<T> | T} work
   * @returns {Promise<T | undefined>}
   */
  async attempt(title, work) {
    const onError = (end, { message }) => end('dim', '--  ', `${title}: ${message}`);
    return this.#run(title, work, onError).catch(() => undefined);
  }

  /** Prints a separate line, even in the middle of a step. */
  print(text) {
    this.#stream.write(`${text}\n`);
  }

  /** Prints the message, details and hint of a `StepError`, or the stack of any other error, which is a bug. */
  fail(error) {
    if (!(error instanceof StepError)) return this.print(error?.stack ?? String(error));
    const hint = error.hint === undefined ? [] : [`Hint: ${error.hint}`];
    return this.print([error.message, ...error.details.map((line) => `  ${line}`), ...hint].join('\n'));
  }

  /** Prints no result of the steps that are running now: they fail only because everything is stopped. */
  interrupt() {
    this.#interruptions += 1;
  }

  async #run(title, work, onError) {
    const interruptions = this.#interruptions;
    const started = performance.now();
    const print = (colour, mark, text) => {
      if (interruptions === this.#interruptions) this.print(`${this.#paint(colour, mark)} ${text}`);
    };
    const end = (colour, mark, text) => print(colour, mark, `${text} (${duration(performance.now() - started)})`);
    const slow = setTimeout(() => print('cyan', '... ', title), SLOW_MS);
    try {
      const value = await work();
      end('green', 'ok  ', title);
      return value;
    } catch (error) {
      onError(end, error);
      throw error;
    } finally {
      clearTimeout(slow);
    }
  }

  #paint(colour, text) {
    return this.#stream.hasColors?.() ? styleText(colour, text) : text;
  }
}

function duration(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
