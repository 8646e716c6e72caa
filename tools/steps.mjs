const SLOW_MS = 3000;
const MARKS = {
  ok: { plain: 'ok  ', tty: '\x1b[32m✔\x1b[0m' },
  skipped: { plain: '--  ', tty: '\x1b[2m–\x1b[0m' },
  failed: { plain: 'FAIL', tty: '\x1b[31m✖\x1b[0m' },
  busy: { plain: '... ', tty: '\x1b[36m…\x1b[0m' },
};

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

/**
 * Prints steps and how long they took. A terminal gets colour, and the line of a step is rewritten when the step ends.
 * Anything else (a log, `NO_COLOR`, `TERM=dumb`) gets one plain line per step, and another while a step is slow.
 */
export class Steps {
  #stream;
  #tty;
  #pending;
  #generation = 0;

  /** @param {NodeJS.WriteStream} [stream] where the lines go */
  constructor(stream = process.stdout) {
    this.#stream = stream;
    this.#tty = Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
  }

  /**
   * Runs a step. If it fails, prints its title and rethrows the error.
   * @template T
   * @param {string} title what is done
   * @param {(step: {outcome?: string, handOver: () => number | undefined}) => Promise<T> | T} work may set `outcome`,
   * the text of the final line; `handOver()` lets a child use the terminal: it returns the file descriptor, or
   * undefined in a log
   * @returns {Promise<T>}
   */
  async run(title, work) {
    const { value, error } = await this.#do(title, work, (end) => end('failed', title));
    if (error) throw error;
    return value;
  }

  /**
   * Runs a step that may fail, because there is an alternative. If it fails, prints the reason and returns undefined.
   * @template T
   * @param {string} title
   * @param {Parameters<Steps['run']>[1]} work
   * @returns {Promise<T | undefined>}
   */
  async attempt(title, work) {
    const { value } = await this.#do(title, work, (end, error) => end('skipped', `${title}: ${error.message}`));
    return value;
  }

  /** Prints a separate line, even in the middle of a step. */
  print(text) {
    this.#erase();
    this.#stream.write(`${text}\n`);
    this.#draw();
  }

  /** Prints the message, details and hint of a `StepError`, or the stack of any other error, which is a bug. */
  fail(error) {
    const known = error instanceof StepError;
    const lines = [known ? error.message : (error?.stack ?? String(error))];
    if (known) lines.push(...error.details.map((line) => `  ${line}`));
    if (known && error.hint) lines.push(`Hint: ${error.hint}`);
    this.print(lines.join('\n'));
  }

  /** Forgets the running step, so that its result is not printed after an interruption. */
  interrupt() {
    this.#generation += 1;
    if (this.#pending) this.#handOver();
    clearTimeout(this.#pending?.slow);
    this.#pending = undefined;
  }

  async #do(title, work, onError) {
    const end = this.#begin(title);
    const step = { handOver: () => this.#handOver() };
    try {
      const value = await work(step);
      end('ok', step.outcome ?? title);
      return { value };
    } catch (error) {
      onError(end, error);
      return { error };
    }
  }

  #begin(title) {
    const generation = this.#generation;
    const started = performance.now();
    const slow = setTimeout(() => !this.#tty && this.#line('busy', title), SLOW_MS);
    slow.unref();
    this.#pending = { title, slow };
    this.#draw();
    return (mark, text) => {
      clearTimeout(slow);
      if (generation !== this.#generation) return;
      this.#erase();
      this.#pending = undefined;
      this.#line(mark, `${text} ${this.#dim(`(${duration(performance.now() - started)})`)}`);
    };
  }

  #handOver() {
    if (!this.#tty) return undefined;
    if (this.#pending && !this.#pending.handedOver) this.#stream.write('\n');
    if (this.#pending) this.#pending.handedOver = true;
    return this.#stream.fd;
  }

  #draw() {
    if (!this.#tty || !this.#pending || this.#pending.handedOver) return;
    // A line that wraps could not be erased.
    const text = this.#pending.title.slice(0, (this.#stream.columns || 80) - 4);
    this.#stream.write(`${MARKS.busy.tty} ${text}`);
  }

  #erase() {
    if (this.#tty && this.#pending && !this.#pending.handedOver) this.#stream.write('\r\x1b[2K');
  }

  #line(mark, text) {
    this.#stream.write(`${this.#tty ? MARKS[mark].tty : MARKS[mark].plain} ${text}\n`);
  }

  #dim(text) {
    return this.#tty ? `\x1b[2m${text}\x1b[0m` : text;
  }
}

function duration(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
