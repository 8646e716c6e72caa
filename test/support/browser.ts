import { findProgram } from './programs.js';

/** Returns the path of an installed Chromium, or undefined. */
export function findChromium(): string | undefined {
  return findProgram('chromium', 'chromium-browser', 'google-chrome');
}
