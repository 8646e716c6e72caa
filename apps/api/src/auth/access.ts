import { Reflector } from '@nestjs/core';

/** What an operation does with items. */
export type Access = 'read' | 'create';

/** Declares the access that a handler needs. Without it, anyone may call the handler. */
export const Needs = Reflector.createDecorator<Access>();
