import type { ZodError } from 'zod';
import type { InputIssue } from './errors.js';

/** What is wrong with a categoryId that is no number and no slug of a category. */
export const UNKNOWN_CATEGORY: InputIssue = {
  path: ['categoryId'],
  message: 'No such category: expected a number as a string, or the slug of a category',
};

/** What is wrong with an input, field by field. */
export function issuesOf(error: ZodError): InputIssue[] {
  return error.issues.map(({ path, message }) => ({ path: path.map(asSegment), message }));
}

function asSegment(segment: PropertyKey): string | number {
  return typeof segment === 'symbol' ? String(segment) : segment;
}
