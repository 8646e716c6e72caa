import type { FactoryProvider, Type } from '@nestjs/common';

/**
 * Returns a provider for a class without Nest decorators. Its constructor gets the providers of the classes and symbols
 * in `inject`, in that order. The compiler checks the classes.
 */
export function provide<Instance, Dependencies extends unknown[]>(
  type: new (...dependencies: Dependencies) => Instance,
  ...inject: { [Index in keyof Dependencies]: Type<Dependencies[Index]> | symbol }
): FactoryProvider<Instance> {
  return { provide: type, inject, useFactory: (...dependencies) => new type(...(dependencies as Dependencies)) };
}
