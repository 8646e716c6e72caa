import { Steps } from '../steps.mjs';

/** Thrown when what comes next has nothing to stand on; the reason has been printed. */
export const NOTHING_TO_STAND_ON = new Error('a step failed that all others need');

/** Runs the checks of the trial, prints and counts them. */
export class Tally {
  passed = 0;
  failed = 0;
  steps = new Steps();
  #interrupted;

  /** @param {AbortSignal} interrupted no check begins or fails any more */
  constructor(interrupted) {
    this.#interrupted = interrupted;
  }

  /**
   * One check; the trial goes on when it fails.
   * @param {string} title
   * @param {Parameters<Steps['run']>[1]} work
   */
  async check(title, work) {
    this.#interrupted.throwIfAborted();
    try {
      await this.steps.run(title, work);
      this.passed += 1;
      return true;
    } catch (error) {
      this.#interrupted.throwIfAborted();
      this.failed += 1;
      this.steps.fail(error);
      return false;
    }
  }

  /** A check that all others need. */
  async must(title, work) {
    if (!(await this.check(title, work))) throw NOTHING_TO_STAND_ON;
  }
}
