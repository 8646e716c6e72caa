import { Steps } from '../../tools/steps.mjs';

/** Thrown after a check that all later ones depend on has failed. The failure itself has been printed. */
export const REQUIRED_CHECK_FAILED = new Error('a required check failed');

/** Runs, prints and counts checks. */
export class Checks {
  passed = 0;
  failed = 0;
  steps = new Steps();
  #interrupted;

  /** @param {AbortSignal} interrupted once aborted, no check starts or is counted as failed */
  constructor(interrupted) {
    this.#interrupted = interrupted;
  }

  /**
   * Runs a check. Returns whether it passed.
   * @param {string} title
   * @param {Parameters<Steps['run']>[1]} work
   */
  async run(title, work) {
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

  /** Runs a check that all later ones depend on. Throws {@link REQUIRED_CHECK_FAILED} if it fails. */
  async require(title, work) {
    if (!(await this.run(title, work))) throw REQUIRED_CHECK_FAILED;
  }
}
