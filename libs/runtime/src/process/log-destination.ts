import { fstatSync, writeFile, writeFileSync } from 'node:fs';

/** Where a log destination writes. */
export interface Output {
  /** Calls back once the text is written, or cannot be. */
  write: (text: string, done: () => void) => void;
  /** Writes what a pipe accepts at once, or everything to a file or terminal. */
  writeSync: (text: string) => void;
}

/** How many characters wait for a slow output, such as a pipe that is rarely read. */
export const MAX_WAITING = 8 * 1024 * 1024;

/**
 * Writes the lines of a logger in batches. Lines that cannot be written, or that a slow output leaves waiting beyond
 * {@link MAX_WAITING}, are lost: a log must neither stop a process nor fill its memory.
 *
 * pino's own destination instead throws if a line cannot be written, and repeats the write until it succeeds when the
 * process exits.
 */
export class LogDestination {
  private waiting = '';
  private isWriting = false;
  private onFlushed: (() => void)[] = [];

  constructor(
    private readonly output: Output,
    private readonly format = (line: string): string => line,
  ) {}

  write(line: string): void {
    const text = this.format(line);
    if (this.waiting.length + text.length > MAX_WAITING) return;
    this.waiting += text;
    if (!this.isWriting) this.writeBatch();
  }

  /** Calls back once no line waits any more. Called by pino's `flush`. */
  flush(done: () => void): void {
    if (this.isWriting) this.onFlushed.push(done);
    else done();
  }

  /** Writes the waiting lines. Called when the process exits, which does not wait for the reader of a pipe. */
  end(): void {
    if (this.waiting !== '') this.output.writeSync(this.take());
  }

  private writeBatch(): void {
    this.isWriting = true;
    this.output.write(this.take(), () => {
      if (this.waiting !== '') {
        this.writeBatch();
        return;
      }
      this.isWriting = false;
      for (const done of this.onFlushed.splice(0)) done();
    });
  }

  private take(): string {
    const text = this.waiting;
    this.waiting = '';
    return text;
  }
}

/** Returns standard output. A failing one, or a pipe whose reader is stalled, does not block the process. */
export function standardOutput(): Output {
  const stats = fstatSync(1);
  return stats.isFIFO() || stats.isSocket() ? pipeOutput() : fileOutput();
}

/** Node.js writes to a pipe without blocking. Threads that write to one would, and then the process could not exit. */
function pipeOutput(): Output {
  const { stdout } = process;
  stdout.on('error', () => undefined);
  return {
    write: (text, done) => stdout.write(text, done),
    writeSync: (text) => stdout.write(text),
  };
}

/** `process.stdout` blocks while it writes to a file or a terminal, and accepts no more lines after an error. */
function fileOutput(): Output {
  return {
    write: (text, done) => {
      writeFile(1, text, done);
    },
    writeSync: (text) => {
      try {
        writeFileSync(1, text);
      } catch {
        // The lines are lost.
      }
    },
  };
}
