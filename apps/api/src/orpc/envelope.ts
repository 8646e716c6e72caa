/**
 * Stands in an input for a value that an oRPC client marked as a native type (a Date, a bigint, NaN …).
 * No field takes one: the schema refuses it by name where it stands at a known field, and drops it elsewhere.
 */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- all that counts is its name, which zod's messages show
class NativeValue {}
Object.defineProperty(NativeValue, 'name', { value: 'a native type (oRPC meta)' });
const NATIVE_VALUE = new NativeValue();

/** A body without its envelope, if it had one. */
export interface Unwrapped {
  input: unknown;
  enveloped: boolean;
}

/**
 * Takes the input out of the envelope `{"json": …, "meta"?: […]}` of an oRPC client; any other body
 * is the input itself.
 */
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

/** Each entry of meta is `[type, …path]`; the first step of the path names the field of the input. */
function withNativeValues(json: unknown, meta: unknown[]): unknown {
  const fields = meta.map((entry) => (Array.isArray(entry) ? (entry as unknown[])[1] : undefined));
  // Without a path the input as a whole is marked, and no operation takes one.
  if (fields.includes(undefined)) return undefined;
  if (!isObject(json)) return json;
  const marked = fields.filter((field) => typeof field === 'string').map((field) => [field, NATIVE_VALUE]);
  // Neither of these sets a prototype: a field called __proto__ is an unknown one like any other.
  return { ...json, ...(Object.fromEntries(marked) as object) };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
