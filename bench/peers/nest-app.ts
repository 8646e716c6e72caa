import 'reflect-metadata';
import { Module, type Provider, type Type } from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import { ZodValidationPipe } from 'nestjs-zod';
import { settings } from './items.js';

/** Serves one controller, and validates its input. */
export async function serve(controller: Type, providers: Provider[]): Promise<void> {
  @Module({
    controllers: [controller],
    providers: [...providers, { provide: APP_PIPE, useClass: ZodValidationPipe }],
  })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(settings.port, '127.0.0.1');
}
