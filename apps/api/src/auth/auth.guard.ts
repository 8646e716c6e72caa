import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiRequest } from '../http/api-message.js';
import { Needs, type Access } from './access.js';
import { Authorizer } from './authorizer.js';

/**
 * Checks the access that the handler of a request needs. The request listener has done so for the three operations,
 * before it read the body. This guard does so for all other handlers that need access.
 */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authorizer: Authorizer,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const access = this.reflector.get(Needs, context.getHandler()) as Access | undefined;
    if (access !== undefined) await this.authorizer.check(context.switchToHttp().getRequest<ApiRequest>(), access);
    return true;
  }
}
