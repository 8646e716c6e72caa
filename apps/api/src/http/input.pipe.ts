import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { issuesOf } from '@app/contracts';
import { createZodValidationPipe } from 'nestjs-zod';
import type { ZodError } from 'zod';
import { ApiError } from './api-error.js';

const ZodPipe = createZodValidationPipe({
  // A parameter without a DTO would not be validated.
  strictSchemaDeclaration: true,
  createValidationException: (error) => ApiError.input(issuesOf(error as ZodError)),
});

/** Validates the input of a controller's method against the schema of its DTO class. */
@Injectable()
export class InputPipe implements PipeTransform {
  private readonly zod = new ZodPipe();

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    // A decorator made with `createParamDecorator` passes what the application itself has set, not input.
    return metadata.type === 'custom' ? value : this.zod.transform(value, metadata);
  }
}
