import type { RejectedLine, SourceLine } from './source-line.js';

/** The outcome of a batch of lines. */
export interface Outcome {
  stored: number;
  /** Already stored, and left unchanged. */
  existing: number;
  rejects: RejectedLine[];
}

/** Stores the lines of one kind. */
export interface Loader {
  /**
   * Determines what to store, and returns the function that stores it. Calls are made one after the other, in file
   * order. The functions returned by earlier calls may still be running.
   */
  prepare(lines: readonly SourceLine[]): Promise<() => Promise<Outcome>>;
  /**
   * Called after all lines are stored. After `stop` is aborted, finishes the batch in progress only. Returns sentences
   * for the summary.
   */
  finish?(stop: AbortSignal): Promise<string[]>;
}
