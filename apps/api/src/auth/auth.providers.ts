import type { Provider } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyRepository, Database } from '@app/database';
import { provide, type AuthConfig, type Logger } from '@app/runtime';
import type { CallerAddress } from '../http/headers/caller-address.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { AuthGuard } from './auth.guard.js';
import { Authenticator } from './authenticator.js';
import { Authorizer } from './authorizer.js';
import { JwtVerifier } from './jwt-verifier.js';

/** Returns what checks callers: nothing unless authentication is on. */
export function authProviders(
  config: AuthConfig | undefined,
  logger: Pick<Logger, 'warn'>,
  callerAddress: CallerAddress,
): Provider[] {
  if (config === undefined) return [];
  const { jwt: jwtConfig } = config;
  const createAuthorizer = (keys: ApiKeyRepository, jwt: JwtVerifier | undefined): Authorizer => {
    const verifiers = { jwt, apiKeys: config.apiKeys ? new ApiKeyVerifier(keys) : undefined };
    return new Authorizer(config, new Authenticator(verifiers, callerAddress));
  };
  return [
    provide(ApiKeyRepository, Database),
    ...(jwtConfig === undefined
      ? []
      : [{ provide: JwtVerifier, useFactory: () => JwtVerifier.create(jwtConfig, logger) }]),
    {
      provide: Authorizer,
      inject: [ApiKeyRepository, { token: JwtVerifier, optional: true }],
      useFactory: createAuthorizer,
    },
    { provide: APP_GUARD, useClass: AuthGuard },
  ];
}
