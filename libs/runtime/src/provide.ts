import type { FactoryProvider, Type } from '@nestjs/common';

/**
 * Provider of a class that knows nothing of Nest: its constructor takes instances of these classes,
 * in this order; the compiler checks that they fit.
 */
export function provide<Instance, Dependencies extends unknown[]>(
  type: new (...dependencies: Dependencies) => Instance,
  ...inject: { [Index in keyof Dependencies]: Type<Dependencies[Index]> }
): FactoryProvider<Instance> {
  return { provide: type, inject, useFactory: (...dependencies) => new type(...(dependencies as Dependencies)) };
}
