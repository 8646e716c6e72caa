import { eventually } from '../support/eventually.js';
import type { Fault } from './faults.js';
import type { Deployment } from './deployment.js';
import type { Load } from './load.js';

const FAILED_OVER_WITHIN_MS = 120_000;
/** Creates that arrive while a failover is noticed. */
const AFTER_FAILOVER = 50;

/** A change of the primary of MongoDB or Redis. */
export interface Failover {
  name: string;
  cause: () => Promise<unknown>;
  /** Returns what differs with another primary. */
  primary: () => Promise<string>;
}

/** Causes a failover under load, and waits until another primary serves and creates succeed. */
export function failover({ name, cause, primary }: Failover): Fault {
  const inject = async (_deployment: Deployment, load: Load): Promise<void> => {
    const before = await primary();
    await cause();
    await eventually(async () => {
      if ((await primary()) === before) throw new Error('the primary is the same as before');
    }, FAILED_OVER_WITHIN_MS);
    const since = Date.now();
    await eventually(() => {
      const succeeded = load.attempts.filter(({ at, status }) => status === 200 && at > since);
      if (succeeded.length < AFTER_FAILOVER) throw new Error(`${String(succeeded.length)} creates since then`);
    }, FAILED_OVER_WITHIN_MS);
  };
  return { name, inject, losesAccepted: true };
}
