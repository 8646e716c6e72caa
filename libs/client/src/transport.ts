import { ApiError } from './api-error.js';

type HeaderMap = Record<string, string>;

/** A successful response. */
interface Reply {
  body: unknown;
  headers: Headers;
}

type Attempt = { reply: Reply; error?: undefined } | { reply?: undefined; error: Error };

/** How a client reaches the service. */
export interface ClientOptions {
  /** The address of the API, for example `https://api.example.com`. */
  baseUrl: string;
  /** The most time that a call may take, including retries, in ms. 30,000 by default. */
  timeoutMs?: number;
  /** Headers of every request, for example `Authorization`. */
  headers?: HeaderMap;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
}

/** Options of one call. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** The longest time of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** Sends the requests of a client, and repeats those that fail temporarily. */
export class Transport {
  private readonly base: URL;
  private readonly timeoutMs: number;

  /** @throws TypeError if the base URL is not an http or https URL, or the time limit is not a positive number */
  constructor(private readonly options: ClientOptions) {
    this.base = new URL(options.baseUrl);
    if (!/^https?:/.test(this.base.protocol)) throw new TypeError(`not an http or https URL: ${options.baseUrl}`);
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs is not a positive number: ${String(timeoutMs)}`);
    this.timeoutMs = Math.min(timeoutMs, MAX_TIMEOUT_MS);
  }

  /**
   * Calls an operation. Repeats it after a 429, a 502, a 503, a 504 or a failed connection, as long as there is time.
   *
   * @throws ApiError for an error response, TypeError if the connection failed or the request cannot be sent, or the
   * reason of the signal: a `TimeoutError` after `timeoutMs`. If an earlier try of a create may have succeeded, its error
   * is thrown, and the error of the last try, for example a 401, is its `cause`.
   */
  async call(operation: string, input: object, options: CallOptions & { headers?: HeaderMap }): Promise<Reply> {
    const { signal, headers } = options;
    return withTimeLimit(this.timeoutMs, signal, (stop) => this.callUntil(stop, operation, input, headers));
  }

  private async callUntil(
    stop: AbortSignal,
    operation: string,
    input: object,
    headers: HeaderMap = {},
  ): Promise<Reply> {
    const deadline = performance.now() + this.timeoutMs;
    const url = this.urlOf(operation);
    const init = this.requestOf(input, headers);
    // Throws at once what fetch would throw as a TypeError, like that of a failed connection.
    new Request(url, init);
    let unresolved: Error | undefined;
    for (let tries = 1; ; tries++) {
      const { reply, error } = await this.attempt(url, { ...init, signal: stop });
      if (reply !== undefined) return reply;
      stop.throwIfAborted();
      const isUnknown = isOutcomeUnknown(error);
      // A read changes nothing, so its last error says everything.
      if (isUnknown && operation === 'create') unresolved = error;
      const pauseMs = pauseAfter(error, tries);
      const isLast = !(isUnknown || isRefusal(error)) || performance.now() + pauseMs >= deadline;
      if (isLast) throw errorOf(error, unresolved);
      await pause(pauseMs, stop);
    }
  }

  private urlOf(operation: string): string {
    const url = new URL(this.base);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/orpc/items/${operation}`;
    return url.href;
  }

  private requestOf(input: object, headers: HeaderMap): RequestInit {
    const all = new Headers(this.options.headers);
    for (const [name, value] of Object.entries({ ...headers, 'Content-Type': 'application/json' }))
      all.set(name, value);
    return { method: 'POST', headers: all, body: JSON.stringify(input) };
  }

  private async attempt(url: string, init: RequestInit): Promise<Attempt> {
    const { fetch = globalThis.fetch } = this.options;
    try {
      const response = await fetch(url, init);
      if (!response.ok) return { error: await ApiError.from(response) };
      return { reply: { body: await response.json(), headers: response.headers } };
    } catch (error) {
      return { error: error as Error };
    }
  }
}

/**
 * Returns whether the request may have succeeded: a connection that failed, for which fetch throws a TypeError, a 504, or
 * a 502 or 503 of a proxy, which may have forwarded it before its connection to the service failed.
 */
function isOutcomeUnknown(error: Error): boolean {
  // By its name, because the error may come from another realm, for example in a test.
  if (!(error instanceof ApiError)) return error.name === 'TypeError';
  const { status, code } = error;
  return status === 502 || status === 504 || (status === 503 && code !== 'SERVICE_UNAVAILABLE');
}

/** Returns whether the request was refused for now. */
function isRefusal(error: Error): boolean {
  return error instanceof ApiError && (error.status === 429 || error.status === 503);
}

/** Returns what a call throws: the error of a try that may have succeeded, if there is one, or that of the last try. */
function errorOf(last: Error, unresolved: Error | undefined): Error {
  if (unresolved === undefined || unresolved === last) return last;
  unresolved.cause = last;
  return unresolved;
}

/** Returns how long to wait before the next try in ms. */
function pauseAfter(error: Error, tries: number): number {
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  // With 0, from a proxy or because clocks differ, clients would try again without a pause.
  if (retryAfterMs !== undefined && retryAfterMs > 0) return retryAfterMs;
  // Varies, so that clients that failed together do not try again together.
  return Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

/**
 * Calls a function with a signal that aborts when another one does, or after a time limit. `AbortSignal.any` is not used:
 * in Node.js, the timer of `AbortSignal.timeout` may be garbage-collected before it fires
 * (https://github.com/nodejs/node/issues/57736), and a signal that outlives the calls would keep a reference to each.
 */
async function withTimeLimit<T>(
  ms: number,
  other: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const follow = (): void => {
    controller.abort(other?.reason);
  };
  const timer = setTimeout(() => {
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  }, ms);
  if (other?.aborted === true) follow();
  other?.addEventListener('abort', follow);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    other?.removeEventListener('abort', follow);
  }
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
