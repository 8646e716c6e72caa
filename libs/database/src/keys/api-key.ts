import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Begins every key, so that secret scanners can find keys that were published by mistake.
 * @see https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partnership-program/secret-scanning-partner-program
 */
const PREFIX = 'ils_';
const RANDOM_BYTES = 32;
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = new RegExp(`^${PREFIX}[0-9A-Za-z]{${String(RANDOM_LENGTH + CHECKSUM_LENGTH)}}$`);

/** Returns a new key: a prefix, 256 random bits and a checksum, in letters and digits. */
export function newApiKey(): string {
  const random = BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`);
  const start = PREFIX + base62(random, RANDOM_LENGTH);
  return start + checksum(start);
}

/** Returns whether a text is meant to be a key. */
export function isApiKeyLike(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Returns whether a text has the form of a key. Its checksum reveals typing errors without a look into the database. */
export function isApiKey(text: string): boolean {
  const end = text.length - CHECKSUM_LENGTH;
  return KEY.test(text) && checksum(text.slice(0, end)) === text.slice(end);
}

/** Returns the digest that is stored in place of a key. A salt would add nothing to 256 random bits. */
export function digestOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function checksum(start: string): string {
  return base62(BigInt(crc32(start)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  const base = BigInt(DIGITS.length);
  let text = '';
  for (let rest = value; rest > 0n; rest /= base) text = (DIGITS[Number(rest % base)] ?? '') + text;
  return text.padStart(length, '0');
}
