/**
 * Replaces an input value that an oRPC client marked as a native type (a Date, a bigint, NaN …). No field accepts it:
 * the schema rejects it by name in a known field, and drops it elsewhere.
 */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- only its name matters, which zod's messages show
class NativeValue {}
Object.defineProperty(NativeValue, 'name', { value: 'a native type (oRPC meta)' });
const NATIVE_VALUE = new NativeValue();

/** The input of a request, without its envelope if it had one. */
export interface Unwrapped {
  input: unknown;
  enveloped: boolean;
}

/** Returns the input in an oRPC client's envelope `{"json": …, "meta"?: […]}`. Any other body is the input itself. */
export function unwrap(body: unknown): Unwrapped {
  if (!isEnvelope(body)) return { input: body, enveloped: false };
  return { input: withNativeValues(body.json, body.meta ?? []), enveloped: true };
}

function isEnvelope(body: unknown): body is { json: unknown; meta?: unknown[] } {
  if (!isObject(body) || !Object.hasOwn(body, 'json')) return false;
  const { meta } = body as { meta?: unknown };
  const keys = Object.keys(body).length;
  return keys === 1 || (keys === 2 && Array.isArray(meta));
}

/** Marks the fields that meta names. Each entry is `[type, …path]`, and the path begins with a field of the input. */
function withNativeValues(json: unknown, meta: unknown[]): unknown {
  const fields = meta.map((entry) => (Array.isArray(entry) ? (entry as unknown[])[1] : undefined));
  // An entry without a path marks the whole input, which no operation accepts.
  if (fields.includes(undefined)) return undefined;
  if (!isObject(json)) return json;
  const marked = fields.filter((field) => typeof field === 'string').map((field) => [field, NATIVE_VALUE]);
  // Neither expression sets a prototype, so `__proto__` is an unknown field like any other.
  return { ...json, ...(Object.fromEntries(marked) as object) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
