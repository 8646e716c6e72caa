import type { InputIssue } from '@app/contracts';
import { createZodValidationPipe } from 'nestjs-zod';
import type { ZodError } from 'zod';
import { Refusal } from './refusal.js';

/** Validates the input of a controller's method by the schema of its DTO class. */
export const InputPipe = createZodValidationPipe({
  createValidationException: (error) => Refusal.input(issuesOf(error as ZodError)),
});

/** What is wrong with an input, field by field. */
export function issuesOf(error: ZodError): InputIssue[] {
  return error.issues.map(({ path, message }) => ({ path: path.map(asSegment), message }));
}

function asSegment(segment: PropertyKey): string | number {
  return typeof segment === 'symbol' ? String(segment) : segment;
}
