/** How long and for what a client is willing to wait: RFC 7240. */
export interface Preferences {
  /** An answer before the item is stored will do. */
  respondAsync: boolean;
  /** Longest wait. */
  waitMs?: number;
}

/** What stands between the commas that are not quoted. */
const PARTS = /(?:"[^"]*"|[^,])+/g;
/** A preference: a token, and its value as a token or quoted; parameters behind `;` are nobody's here. */
const PREFERENCE = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s;"]+))\s*)?(?:;.*)?$/;

/** Reads a `Prefer` header; what is malformed or unknown is ignored, and of a repeated preference the first counts. */
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
