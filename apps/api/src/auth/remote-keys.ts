import type { JWK, JWTVerifyGetKey } from 'jose' with { 'resolution-mode': 'import' };

/** Keys are fetched again after this time, so that removed ones are soon rejected. */
const REFRESH_MS = 5 * 60_000;
/** While fetching fails, known keys are used for this long. */
const MAX_AGE_MS = 60 * 60_000;
/** The time between two fetches because of an unknown key, and after a failure while keys are known. */
const COOLDOWN_MS = 30_000;
const TIMEOUT_MS = 1000;
/** The time after a failure while no keys are known. */
const RETRY_AFTER_MS = 1000;
const MAX_BYTES = 512 * 1024;
/**
 * The algorithms of keys that name none, by curve or type: a key is used with one algorithm (RFC 8725, 3.1). Those of
 * curves are given by RFC 7518, 3.4, and RFC 8037, 3.1.
 */
const ALGORITHMS = new Map<unknown, string>([
  ['RSA', 'RS256'],
  ['P-256', 'ES256'],
  ['P-384', 'ES384'],
  ['P-521', 'ES512'],
  ['Ed25519', 'EdDSA'],
]);

/** Thrown if the keys could not be fetched. */
export class KeysUnavailable extends Error {}

/** The public keys at a URL. */
export interface RemoteKeys {
  /** Returns the key of a token. @throws KeysUnavailable, or an error of the library if there is no such key */
  find: JWTVerifyGetKey;
  /** Fetches the keys if that is due. Returns whether they are up to date. */
  refresh: () => Promise<boolean>;
}

/**
 * Prepares to fetch the public keys of tokens. They are fetched when they are first needed.
 *
 * @param report called with the reason each time that fetching fails
 * @see https://www.rfc-editor.org/rfc/rfc7517
 */
export async function remoteKeys(url: string, report: (reason: string) => void): Promise<RemoteKeys> {
  const { createRemoteJWKSet, customFetch } = await import('jose');
  let refreshAt = -Infinity;
  let retryAt = -Infinity;
  const fetchKeys: typeof fetch = async (input, init) => {
    if (performance.now() < retryAt) throw new KeysUnavailable();
    try {
      const response = await fetchLimited(input, init);
      refreshAt = performance.now() + REFRESH_MS;
      return response;
    } catch (error) {
      // The keys are not up to date, even if they were not due and only an unknown one was looked for.
      refreshAt = -Infinity;
      retryAt = performance.now() + (keys.fresh ? COOLDOWN_MS : RETRY_AFTER_MS);
      report(reasonOf(error));
      throw new KeysUnavailable();
    }
  };
  const keys = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: MAX_AGE_MS,
    cooldownDuration: COOLDOWN_MS,
    timeoutDuration: TIMEOUT_MS,
    [customFetch]: fetchKeys,
  });
  const refresh = async (): Promise<boolean> => {
    if (performance.now() > refreshAt) await keys.reload().catch(() => undefined);
    return performance.now() <= refreshAt;
  };
  const find: JWTVerifyGetKey = async (header, token) => {
    // If this fails, known keys are used.
    await refresh();
    return keys(header, token);
  };
  return { find, refresh };
}

/**
 * Fetches a key set of at most {@link MAX_BYTES}. Keys without an algorithm get one.
 *
 * @throws Error unless the status is 200 and the body a key set
 */
async function fetchLimited(...request: Parameters<typeof fetch>): Promise<Response> {
  const { status, body } = await fetch(...request);
  if (status !== 200 || body === null) throw new Error(`status ${String(status)}`);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error(`more than ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  const { keys } = Object(JSON.parse(Buffer.concat(chunks).toString())) as { keys?: unknown };
  if (!Array.isArray(keys) || !keys.every((key) => Object(key) === key)) throw new Error('not a JSON Web Key Set');
  return Response.json({ keys: (keys as JWK[]).map((key) => ({ alg: ALGORITHMS.get(key.crv ?? key.kty), ...key })) });
}

/** Returns the cause of a failed fetch in a few words. */
function reasonOf(error: unknown): string {
  const { cause, name, message } = error as Error;
  const { code } = Object(cause) as { code?: unknown };
  if (typeof code === 'string') return code;
  return name === 'TimeoutError' || name === 'AbortError' ? 'no response in time' : message;
}
