import { Steps } from '../../tools/steps.mjs';

/** Thrown after a check that all later ones depend on has failed. The failure itself has been printed. */
export const NOTHING_TO_STAND_ON = new Error('a required check failed');

/** Runs, prints and counts the checks of the trial. */
export class Tally {
  passed = 0;
  failed = 0;
  steps = new Steps();
  #interrupted;

  /** @param {AbortSignal} interrupted once aborted, no check starts or is counted as failed */
  constructor(interrupted) {
    this.#interrupted = interrupted;
  }

  /**
   * Runs a check. The trial continues if it fails.
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

  /** Runs a check that all later ones depend on. Throws {@link NOTHING_TO_STAND_ON} if it fails. */
  async must(title, work) {
    if (!(await this.check(title, work))) throw NOTHING_TO_STAND_ON;
  }
}
