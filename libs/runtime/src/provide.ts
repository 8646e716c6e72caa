import type { FactoryProvider, Type } from '@nestjs/common';

/**
 * Provider of a class that knows nothing of Nest: its constructor takes instances of these classes, in this order, which
 * the compiler checks, or what is provided under these symbols.
 */
export function provide<Instance, Dependencies extends unknown[]>(
  type: new (...dependencies: Dependencies) => Instance,
  ...inject: { [Index in keyof Dependencies]: Type<Dependencies[Index]> | symbol }
): FactoryProvider<Instance> {
  return { provide: type, inject, useFactory: (...dependencies) => new type(...(dependencies as Dependencies)) };
}
