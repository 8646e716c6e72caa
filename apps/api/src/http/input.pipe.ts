import { issuesOf } from '@app/contracts';
import { createZodValidationPipe } from 'nestjs-zod';
import type { ZodError } from 'zod';
import { ApiError } from './api-error.js';

/** Validates the input of a controller's method against the schema of its DTO class. */
export const InputPipe = createZodValidationPipe({
  // A parameter without a DTO would not be validated.
  strictSchemaDeclaration: true,
  createValidationException: (error) => ApiError.input(issuesOf(error as ZodError)),
});
