import { z } from 'zod';
import { NOT_EXACT_NUMBER, NOT_WELL_FORMED } from './exact-value.js';

/**
 * Well-formed Unicode text of at least `min` characters, counted in code points as JSON Schema does
 * (zod's own `min` counts UTF-16 units, so one emoji would count twice).
 */
export function text(min = 0): z.ZodString {
  const atLeast = min === 1 ? 'at least 1 character' : `at least ${String(min)} characters`;
  const schema = z.string().refine((value) => value.isWellFormed(), { error: NOT_WELL_FORMED });
  if (min === 0) return schema;
  return schema
    .refine((value) => hasCodePoints(value, min), { error: `Too short: expected ${atLeast}` })
    .meta({ minLength: min });
}

function hasCodePoints(value: string, min: number): boolean {
  if (value.length >= 2 * min) return true;
  return value.length >= min && Array.from(value).length >= min;
}

const notExact = (issue: { input?: unknown }): string | undefined =>
  typeof issue.input === 'number' && !Number.isFinite(issue.input) ? NOT_EXACT_NUMBER : undefined;

/** A number that was not changed by reading it. */
export const exactNumber = (): z.ZodNumber => z.number({ error: notExact });

/** A whole number within ±(2^53 − 1). */
export const wholeNumber = (): z.ZodInt => z.int({ error: notExact });

const NUMERIC = /^(0|[1-9]\d*)$/;

/**
 * The category number that a `categoryId` string stands for, or null when it is none: a numeric
 * string without leading zeros, at most 2^53 − 1. Any other string is a category's slug.
 */
export function categoryNumber(categoryId: string): number | null {
  const number = NUMERIC.test(categoryId) ? Number(categoryId) : NaN;
  return Number.isSafeInteger(number) ? number : null;
}
