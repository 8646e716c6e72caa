/** How long a client is willing to wait, and for what (RFC 7240). */
export interface Preferences {
  /** Whether a response before the item is stored is acceptable. */
  respondAsync: boolean;
  /** The longest wait. */
  waitMs?: number;
}

/** The parts between unquoted commas. */
const PARTS = /(?:"[^"]*"|[^,])+/g;
/** A preference: a token, with an optional value as a token or quoted. Parameters after `;` are ignored. */
const PREFERENCE = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;"]+))\s*)?(?:;.*)?$/;

/** Parses a `Prefer` header. Ignores malformed and unknown preferences, and all but the first of a repeated one. */
export function preferencesOf(header: string | string[] | undefined): Preferences {
  const preferences: Preferences = { respondAsync: false };
  for (const part of [header ?? []].flat().join(',').match(PARTS) ?? []) {
    const [, name = '', quoted, token] = PREFERENCE.exec(part) ?? [];
    const value = quoted ?? token ?? '';
    if (name.toLowerCase() === 'respond-async' && value === '') preferences.respondAsync = true;
    if (name.toLowerCase() === 'wait' && /^\d+$/.test(value)) preferences.waitMs ??= Number(value) * 1000;
  }
  return preferences;
}
