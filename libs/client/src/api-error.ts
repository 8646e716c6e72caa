/** A part of an input that is not valid. */
export interface Issue {
  path: (string | number)[];
  message: string;
}

/** An error response of the service, or of a proxy in front of it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** For example `NOT_FOUND`. `UNKNOWN` if the response does not come from the service. */
    readonly code: string,
    message: string,
    /** More about the error: `issues` of an invalid input, or the `id` of a create whose outcome is unknown. */
    readonly data: { issues?: Issue[]; id?: string } = {},
    /** How long to wait before another try, if the response says so. */
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }

  /** Reads the body of an error response. */
  static async from(response: Response): Promise<ApiError> {
    const { status, statusText } = response;
    const body = (await response.json().catch(() => undefined)) as Partial<ApiError> | undefined;
    const retryAfterMs = msUntil(response.headers.get('Retry-After') ?? '');
    const message = body?.message ?? `${String(status)} ${statusText}`;
    return new ApiError(status, body?.code ?? 'UNKNOWN', message, body?.data ?? {}, retryAfterMs);
  }
}

/** Returns how long a `Retry-After` asks to wait: a number of seconds or, from some proxies, a date (RFC 9110, 10.2.3). */
function msUntil(retryAfter: string): number | undefined {
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
