import { open, stat, type FileHandle } from 'node:fs/promises';
import { CommandError } from '../command.js';
import { printable } from '../printable.js';
import type { RejectedLine } from './source-line.js';

/** How many rejected lines are shown if there is no file for them, and how many characters of each. */
const SHOWN = 5;
const SHOWN_CHARACTERS = 200;

/** Writes rejected lines to a file as NDJSON or, without a file, keeps the first ones to be shown. */
export class Rejects {
  private readonly first: RejectedLine[] = [];

  private constructor(private readonly file: FileHandle | undefined) {}

  /** @throws CommandError if the file cannot be written, or if it is the input */
  static async open(path: string | undefined, input: string): Promise<Rejects> {
    if (path === undefined) return new Rejects(undefined);
    if (await isSameFile(path, input === '-' ? '/dev/stdin' : input)) {
      throw new CommandError(`Cannot write ${path}: it is the file that is imported`);
    }
    try {
      return new Rejects(await open(path, 'w'));
    } catch (error) {
      throw new CommandError(`Cannot write ${path}: ${(error as Error).message}`);
    }
  }

  async add(rejects: readonly RejectedLine[]): Promise<void> {
    if (rejects.length === 0) return;
    this.first.push(...rejects.slice(0, SHOWN - this.first.length));
    const lines = rejects.map(({ number, reasons, text }) => JSON.stringify({ line: number, reasons, text }));
    await this.file?.appendFile(`${lines.join('\n')}\n`);
  }

  async close(): Promise<void> {
    await this.file?.close();
  }

  /** Returns the first rejected lines in readable form, each on one line, or none if there is a file for them. */
  shown(): string[] {
    if (this.file !== undefined) return [];
    return this.first.map(({ number, reasons, text }) => {
      const why = reasons.map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '));
      return printable(`line ${String(number)}: ${why.join('; ')} in ${text.slice(0, SHOWN_CHARACTERS)}`);
    });
  }
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([path, other].map((name) => stat(name).catch(() => undefined)));
  return a !== undefined && b !== undefined && a.isFile() && a.dev === b.dev && a.ino === b.ino;
}
