import type { RejectedLine, SourceLine } from './source-line.js';

/** What became of some lines. */
export interface Outcome {
  stored: number;
  /** Stored before, and left as they are. */
  existing: number;
  rejects: RejectedLine[];
}

/** Stores the lines of one kind. */
export interface Loader {
  /**
   * Finds out what is to be stored; one call after the other, in the order of the file. Storing it, by the function that
   * is answered, may go on meanwhile.
   */
  prepare(lines: readonly SourceLine[]): Promise<() => Promise<Outcome>>;
  /** What is to be done once all lines are stored; answers sentences for the summary. */
  finish?(): Promise<string[]>;
}
