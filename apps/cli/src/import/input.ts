import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { CommandError } from '../command.js';
import { readCsv } from './csv.js';
import { readLines } from './lines.js';
import { readNdjson } from './ndjson.js';
import type { RejectedLine, SourceLine } from './source-line.js';

/** The lines of an input, and how much of it has been read. */
export interface Input {
  lines: AsyncIterable<SourceLine | RejectedLine>;
  /** In bytes; undefined if unknown, as for a pipe. */
  size: number | undefined;
  bytesRead: () => number;
}

/**
 * Opens a file, or stdin for `-`. Aborting `stop` ends reading.
 *
 * @throws CommandError if the file cannot be read
 */
export async function openInput(file: string, format: 'ndjson' | 'csv', stop: AbortSignal): Promise<Input> {
  const stream = file === '-' ? process.stdin : createReadStream(file);
  // Without a listener, aborting the stream before it is read would end the process.
  stream.on('error', () => undefined);
  const size = file === '-' ? undefined : await sizeOf(file);
  const lines = readLines(addAbortSignal(stop, stream as Readable));
  return {
    size,
    lines: format === 'csv' ? readCsv(lines) : readNdjson(lines),
    bytesRead: () => ('bytesRead' in stream ? stream.bytesRead : 0),
  };
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    const handle = await open(file);
    const status = await handle.stat().finally(() => handle.close());
    if (status.isDirectory()) throw new Error('it is a directory');
    return status.isFile() ? status.size : undefined;
  } catch (error) {
    throw new CommandError(`Cannot read ${file}: ${(error as Error).message}`);
  }
}
