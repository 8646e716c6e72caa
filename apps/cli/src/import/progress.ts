import { SingleBar } from 'cli-progress';
import type { Input } from './input.js';

/** How often a plain line is written if stderr is not a terminal. */
const PLAIN_EVERY_MS = 5000;

/** Shows on stderr how much has been read, at what rate, and how long the rest will take. */
export class Progress {
  private readonly since = performance.now();
  private readonly bar: SingleBar;

  constructor(private readonly input: Pick<Input, 'size' | 'bytesRead'>) {
    const numbers = '{lines} lines, {rate}/s';
    this.bar = new SingleBar({
      format: input.size === undefined ? numbers : `{bar} {percentage}% ${numbers}, {eta_formatted} left`,
      stream: process.stderr,
      noTTYOutput: true,
      notTTYSchedule: PLAIN_EVERY_MS,
      hideCursor: true,
      barsize: 25,
      etaBuffer: 50,
      // The command handles signals itself.
      gracefulExit: false,
    });
    this.bar.start(input.size ?? 0, 0, { lines: 0, rate: 0 });
  }

  update(lines: number): void {
    const rate = Math.round((lines / (performance.now() - this.since)) * 1000);
    this.bar.update(this.input.bytesRead(), { lines, rate });
  }

  stop(): void {
    this.bar.stop();
  }
}
