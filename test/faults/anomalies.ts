import type { Attempt, Load } from './load.js';
import type { Deployment } from './deployment.js';

/** Everything that must not happen, with the keys or names that it happened to. */
export interface Anomalies {
  /** A response had an item that is not stored. */
  lost: string[];
  /** More than one item is stored. */
  duplicated: string[];
  /** An item that no client requested, or whose requests were all refused. */
  unrequested: string[];
  /** A `publicId` or a `slug` that two items share. */
  notUnique: string[];
  /** A response differs from another one, or from the stored item. */
  inconsistent: string[];
  /** A job is in `failed`, although its item is stored. */
  failedButStored: string[];
}

/** Compares what clients were told with what is stored. */
export async function findAnomalies(load: Load, { database, jobs }: Deployment): Promise<Anomalies> {
  const attempts = load.byKey();
  const stored = await database.models.items.find({}, { name: 1, publicId: 1, slug: 1, createdAt: 1 }).lean();
  const items = new Map(
    stored.map(({ _id, name, publicId, slug, createdAt }) => [
      name,
      { id: _id.toHexString(), publicId, slug, createdAt: createdAt.toISOString() },
    ]),
  );
  const returned = load.attempts.filter(({ item }) => item !== undefined);
  const ids = new Set([...items.values()].map(({ id }) => id));
  const failed = (await jobs.queue.getFailed()).map(({ id = '' }) => id);
  return {
    lost: keysOf(returned.filter(({ key }) => !items.has(key))),
    duplicated: repeated(stored.map(({ name }) => name)),
    unrequested: [...items.keys()].filter((name) => (attempts.get(name) ?? []).every(isRefused)),
    notUnique: [
      ...repeated(stored.map(({ publicId }) => String(publicId))),
      ...repeated(stored.map(({ slug }) => slug)),
    ],
    inconsistent: keysOf(
      returned.filter(({ key, item }) => items.has(key) && JSON.stringify(item) !== JSON.stringify(items.get(key))),
    ),
    failedButStored: failed.filter((id) => ids.has(id)),
  };
}

/** Returns the keys that got a 202 but have no stored item. */
export async function acceptedAndLost(load: Load, { database }: Deployment): Promise<string[]> {
  const accepted = keysOf(load.attempts.filter(({ status }) => status === 202));
  const stored = await database.models.items.find({ name: { $in: accepted } }, { name: 1 }).lean();
  const names = new Set(stored.map(({ name }) => name));
  return accepted.filter((key) => !names.has(key));
}

/** Returns the attempts of the first few keys as JSON, to explain why a test failed. */
export function describeAttempts(load: Load, keys: readonly string[]): string {
  const attempts = load.byKey();
  return JSON.stringify(keys.slice(0, 3).map((key) => attempts.get(key) ?? key));
}

export function keysOf(attempts: readonly Attempt[]): string[] {
  return [...new Set(attempts.map(({ key }) => key))];
}

/** Returns whether the status promises that no item was or will be created. */
export function isRefused({ status }: Attempt): boolean {
  return status === 503;
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}
