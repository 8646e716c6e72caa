/** The caller that a credential stands for. */
export interface Principal {
  /** The kind of the credential and the name of its owner, such as `jwt:alice`. The `sellerId` of the caller's items. */
  id: string;
  scopes: readonly string[];
  /** When the credential expires, in ms since 1970. */
  expiresAt: number;
}

/** The name becomes a part of items, jobs and cache keys. */
const MAX_NAME_LENGTH = 255;
const IS_QUALIFIED = /^(?:jwt|key):/;

/** Returns the id of a caller, or undefined if its name cannot be one. */
export function principalId(kind: 'jwt' | 'key', name: unknown): string | undefined {
  const isName = typeof name === 'string' && name !== '' && name.length <= MAX_NAME_LENGTH && name.isWellFormed();
  return isName ? `${kind}:${name}` : undefined;
}

/**
 * Returns whether a caller is the user with this id: the one in its token, or its own id with the kind. A name that
 * contains a kind matches only the whole id, because it could belong to another kind of caller.
 */
export function isUser({ id }: Principal, userId: string): boolean {
  return userId === id || (!IS_QUALIFIED.test(userId) && id === `jwt:${userId}`);
}
