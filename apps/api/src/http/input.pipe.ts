import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { issuesOf } from '@app/contracts';
import { createZodValidationPipe, ZodSchemaDeclarationException } from 'nestjs-zod';
import type { ZodError } from 'zod';
import { InputError } from './api-error.js';

const ZodPipe = createZodValidationPipe({
  // A parameter without a DTO would not be validated.
  strictSchemaDeclaration: true,
  createValidationException: (error) => new InputError(issuesOf(error as ZodError)),
});

/** The types that Nest's documentation declares for path and query parameters, which are not DTO classes. */
const BUILT_IN = new Set<unknown>([String, Number, Boolean, Object, undefined]);

/** Validates the input of a controller's method against the schema of its DTO class. A body must have one. */
@Injectable()
export class InputPipe implements PipeTransform {
  private readonly zod = new ZodPipe();

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    const { type, metatype } = metadata;
    // A decorator made with `createParamDecorator` passes what the application itself has set, not input.
    const isOther = type === 'custom' || (type !== 'body' && BUILT_IN.has(metatype));
    if (isOther) return value;
    try {
      return this.zod.transform(value, metadata);
    } catch (error) {
      throw error instanceof ZodSchemaDeclarationException ? withoutSchema(metadata) : error;
    }
  }
}

/** Returns an error that tells developers which input was declared without a schema. */
function withoutSchema({ type, metatype }: ArgumentMetadata): Error {
  return new Error(
    `${metatype?.name ?? 'undefined'}, the type of a ${type} parameter, has no schema: make it with createZodDto`,
  );
}
