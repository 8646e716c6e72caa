import type { Outcome } from './loader.js';

/** Counts the outcomes of all lines. */
export class Tally {
  private readonly since = performance.now();
  read = 0;
  stored = 0;
  existing = 0;
  rejected = 0;

  add(lines: number, { stored, existing, rejects }: Outcome): void {
    this.read += lines;
    this.stored += stored;
    this.existing += existing;
    this.rejected += rejects.length;
  }

  /** Returns a summary in one line. */
  summary(isDryRun: boolean): string {
    const seconds = (performance.now() - this.since) / 1000;
    const stored = isDryRun ? 'to be stored (dry run: nothing was)' : 'stored';
    return (
      `${String(this.read)} lines read: ${String(this.stored)} ${stored}, ${String(this.existing)} already there, ` +
      `${String(this.rejected)} rejected, in ${seconds.toFixed(1)} s (${(this.read / seconds).toFixed(0)}/s)`
    );
  }
}
