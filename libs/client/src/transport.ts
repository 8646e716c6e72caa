import { ApiError } from './api-error.js';

/** How a client reaches the service. */
export interface ClientOptions {
  /** The address of the API, for example `https://api.example.com`. */
  baseUrl: string;
  /** The most time that a call may take with all its tries, in ms. 30,000 by default. */
  timeoutMs?: number;
  /** Headers of every request, for example `Authorization`. */
  headers?: Record<string, string>;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** After a 503 nothing was created. After a 504 the outcome is unknown, and the same request settles it. */
const RETRIED_STATUSES = [503, 504];

/** Sends the requests of a client, and repeats those that failed for a while. */
export class Transport {
  constructor(private readonly options: ClientOptions) {}

  /**
   * Calls an operation. Repeats it after a 503, a 504 or a failed connection, as long as there is time.
   *
   * @throws ApiError for an error response, TypeError if there is no connection, or the reason of the signal:
   * a `TimeoutError` after `timeoutMs`
   */
  async call(
    operation: string,
    input: object,
    { signal, headers = {} }: CallOptions & { headers?: Record<string, string> },
  ): Promise<{ body: unknown; headers: Headers }> {
    const timeoutMs = this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const deadline = performance.now() + timeoutMs;
    const timeout = AbortSignal.timeout(timeoutMs);
    const stop = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    const init = this.requestOf(input, headers, stop);
    for (let tries = 1; ; tries++) {
      const response = await this.send(operation, init);
      if (response instanceof Response && response.ok)
        return { body: await response.json(), headers: response.headers };
      const error = response instanceof Response ? await ApiError.from(response) : response;
      stop.throwIfAborted();
      const pauseMs = pauseAfter(response, tries);
      if (pauseMs === undefined || performance.now() + pauseMs >= deadline) throw error;
      await pause(pauseMs, stop);
    }
  }

  private requestOf(input: object, headers: Record<string, string>, signal: AbortSignal): RequestInit {
    const all = { ...this.options.headers, ...headers, 'Content-Type': 'application/json' };
    return { method: 'POST', headers: all, body: JSON.stringify(input), signal };
  }

  /** Returns the response, or the error if there is none. */
  private async send(operation: string, init: RequestInit): Promise<Response | Error> {
    const { baseUrl, fetch = globalThis.fetch } = this.options;
    try {
      return await fetch(`${baseUrl.replace(/\/$/, '')}/api/orpc/items/${operation}`, init);
    } catch (error) {
      return error as Error;
    }
  }
}

/** Returns how long to wait before the next try in ms, or undefined if another try would not help. */
function pauseAfter(response: Response | Error, tries: number): number | undefined {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS);
  // Varies, so that clients that failed together do not try again together.
  const variedMs = pauseMs * (0.5 + Math.random() / 2);
  if (response instanceof Error) return variedMs;
  if (!RETRIED_STATUSES.includes(response.status)) return undefined;
  const retryAfter = response.headers.get('Retry-After') ?? '';
  return /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : variedMs;
}

/** @throws the reason of the signal */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });
}
