import { setTimeout as delay } from 'node:timers/promises';
import type { Stores } from '../faults/stores.js';
import type { Scale } from './attacker.js';
import { QuietClient } from './quiet-client.js';
import { Target, type TargetOptions } from './target.js';

/** One attack and its setup. */
export interface Scenario extends TargetOptions {
  name: string;
  attack: (target: Target, scale: Scale) => Promise<void>;
  /** Runs after the quiet client has stopped. */
  afterwards?: (target: Target) => Promise<void>;
}

/** What the suite expects of every scenario. */
export interface Limits extends Scale {
  /** The limit of the quiet client's 99th percentile, in milliseconds. */
  withinMs: number;
}

/** Memory limit of each process, whatever it is sent. */
const MAX_MEGABYTES = 400;
const QUIET_BEFORE_MS = 500;

/** Attacks the service while a quiet client uses it, and expects that the quiet client does not notice. */
export async function expectUnnoticed(stores: Stores, scenario: Scenario, limits: Limits): Promise<void> {
  const target = await Target.start(stores, scenario, limits);
  try {
    const problems = await problemsOf(target, scenario, limits);
    problems.push(...target.problems(MAX_MEGABYTES));
    expect(problems).toEqual([]);
    await scenario.afterwards?.(target);
  } finally {
    await target.end();
  }
}

/** Returns unexpected responses to the attacker, and what the quiet client noticed. */
async function problemsOf(target: Target, scenario: Scenario, limits: Limits): Promise<string[]> {
  const quiet = await QuietClient.start(target.client.base);
  await delay(QUIET_BEFORE_MS);
  const failed = await scenario.attack(target, limits).then(
    () => [],
    (error: unknown) => [`the attacker: ${String(error)}`],
  );
  await delay(QUIET_BEFORE_MS);
  const noticed = await quiet.stop(limits.withinMs);
  return [...failed, ...noticed];
}
