import { setTimeout as delay } from 'node:timers/promises';
import type { Stores } from '../faults/stores.js';
import type { Scale } from './attacker.js';
import { QuietClient } from './quiet-client.js';
import { Target, type TargetOptions } from './target.js';

/** One way to hurt others. */
export interface Trial extends TargetOptions {
  name: string;
  attack: (target: Target, scale: Scale) => Promise<void>;
  /** What the quiet client must not be there for. */
  afterwards?: (target: Target) => Promise<void>;
  /** Whether the attack fills the backlog, so that creates of the quiet client may be refused. */
  mayRefuse?: true;
}

/** What the suite expects of every trial. */
export interface Limits extends Scale {
  /** Of the quiet client's p99. */
  withinMs: number;
}

/** All that a process may take, whatever it is sent. */
const MAX_MEGABYTES = 400;
const QUIET_BEFORE_MS = 500;

/** Attacks the service beside a quiet client, and expects that nobody but the attacker notices. */
export async function expectUnnoticed(stores: Stores, trial: Trial, limits: Limits): Promise<void> {
  const target = await Target.start(stores, trial, limits);
  try {
    const complaints = await complaintsOf(target, trial, limits);
    complaints.push(...target.complaints(MAX_MEGABYTES));
    expect(complaints).toEqual([]);
    await trial.afterwards?.(target);
  } finally {
    await target.end();
  }
}

/** Those of the attacker, who was answered what nobody may be, and of the quiet client. */
async function complaintsOf(target: Target, trial: Trial, limits: Limits): Promise<string[]> {
  const quiet = await QuietClient.start(target.client.base);
  await delay(QUIET_BEFORE_MS);
  const failed = await trial.attack(target, limits).then(
    () => [],
    (error: unknown) => [`the attacker: ${String(error)}`],
  );
  await delay(QUIET_BEFORE_MS);
  const noticed = await quiet.stop(limits.withinMs, trial.mayRefuse === true);
  return [...failed, ...noticed];
}
