import { z } from 'zod';
import { NOT_EXACT_NUMBER, NOT_WELL_FORMED } from './exact-value.js';

/**
 * Returns a schema for well-formed Unicode text of `min` to `max` characters. Counts code points, as JSON Schema does;
 * zod's own `min` and `max` count UTF-16 code units, so an emoji counts twice.
 */
export function text(min = 0, max = Infinity): z.ZodString {
  let schema = z.string().refine((value) => value.isWellFormed(), { error: NOT_WELL_FORMED });
  if (min > 0) {
    const error = `Too short: expected at least ${characters(min)}`;
    schema = schema.refine((value) => hasCodePoints(value, min), { error }).meta({ minLength: min });
  }
  if (max < Infinity) {
    const error = `Too long: expected at most ${characters(max)}`;
    schema = schema.refine((value) => !hasCodePoints(value, max + 1), { error }).meta({ maxLength: max });
  }
  return schema;
}

function characters(count: number): string {
  return count === 1 ? '1 character' : `${String(count)} characters`;
}

/** Returns whether a text has at least this many code points. */
function hasCodePoints(value: string, count: number): boolean {
  if (value.length >= 2 * count) return true;
  return value.length >= count && Array.from(value).length >= count;
}

const notExact = (issue: { input?: unknown }): string | undefined =>
  typeof issue.input === 'number' && !Number.isFinite(issue.input) ? NOT_EXACT_NUMBER : undefined;

/** Returns a schema for a finite number, with an error that says why an infinite one cannot be stored. */
export const exactNumber = (): z.ZodNumber => z.number({ error: notExact });

/** Returns a schema for a whole number within ±(2^53 − 1). */
export const wholeNumber = (): z.ZodInt => z.int({ error: notExact });

const NUMERIC = /^(0|[1-9]\d*)$/;

/**
 * Returns the category number that a `categoryId` string contains: digits without leading zeros, at most 2^53 − 1.
 * Returns null for any other string, which is the slug of a category.
 */
export function categoryNumber(categoryId: string): number | null {
  const number = NUMERIC.test(categoryId) ? Number(categoryId) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}
