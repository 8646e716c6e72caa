import type { ZodError } from 'zod';
import type { InputIssue } from './errors.js';

/** The issue of a `categoryId` that is neither a number nor the slug of a category. */
export const UNKNOWN_CATEGORY: InputIssue = {
  path: ['categoryId'],
  message: 'No such category: expected a number as a string, or the slug of a category',
};

/** Returns the issues of an input that zod has rejected. */
export function issuesOf(error: ZodError): InputIssue[] {
  return error.issues.map(({ path, message }) => ({ path: path.map(asSegment), message }));
}

function asSegment(segment: PropertyKey): string | number {
  return typeof segment === 'symbol' ? String(segment) : segment;
}
