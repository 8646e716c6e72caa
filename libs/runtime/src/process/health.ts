import { TtlCache } from '../ttl-cache.js';

/** The state of a process, with one line for each part: {@link OK}, or what is wrong with it. */
export interface Readiness {
  status: 'ready' | 'degraded' | 'not ready';
  parts: Record<string, string>;
}

/** Checks the state of its process. */
export interface ReadinessCheck {
  /** Whether the process is about to stop. Read for each request, because it must be visible immediately. */
  readonly isDraining?: boolean;
  check(): Promise<Readiness>;
}

/** The line of a part that works. */
export const OK = 'ok';

/** A part that takes longer to respond counts as unavailable. Kubernetes probes time out after 1 s by default. */
export const CHECK_TIMEOUT_MS = 700;

/** How long the result of a check is shared, so that frequent requests put no load on the databases. */
export const SHARED_FOR_MS = 1000;

/** Shares each check for a second, even while it is running, so that frequent requests put no load on the stores. */
export class SharedReadiness {
  private readonly latest = new TtlCache<boolean, Promise<Readiness>>({ forMs: SHARED_FOR_MS, count: 1 });

  constructor(private readonly readiness: ReadinessCheck) {}

  /** Never returns the result of a check from before draining began. */
  check(): Promise<Readiness> {
    const { isDraining = false } = this.readiness;
    return this.latest.getOrSet(isDraining, () => this.readiness.check());
  }
}
