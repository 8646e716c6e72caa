import 'reflect-metadata';
import { CreateItemInputSchema, GetAllInputSchema, GetByIdInputSchema, type Item } from '@app/contracts';
import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import { createZodDto, ZodValidationPipe } from 'nestjs-zod';
import { ItemsService } from './items-service.js';
import { settings } from './items.js';

class CreateItemDto extends createZodDto(CreateItemInputSchema) {}
class GetAllDto extends createZodDto(GetAllInputSchema) {}
class GetByIdDto extends createZodDto(GetByIdInputSchema) {}

@Controller('api/orpc/items')
class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Post('create')
  @HttpCode(200)
  create(@Body() input: CreateItemDto): Promise<Item> {
    return this.items.create(input);
  }

  @Post('getById')
  @HttpCode(200)
  getById(@Body() { id }: GetByIdDto): Promise<Item> {
    return this.items.getById(id);
  }

  @Post('getAll')
  @HttpCode(200)
  getAll(@Body() input: GetAllDto): Promise<Item[]> {
    return this.items.getAll(input);
  }
}

/** Serves the operations of the service, and validates their input. */
export async function serve(items: Pick<ItemsService, 'create' | 'getById' | 'getAll'>): Promise<void> {
  @Module({
    controllers: [ItemsController],
    providers: [
      { provide: ItemsService, useValue: items },
      { provide: APP_PIPE, useClass: ZodValidationPipe },
    ],
  })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(settings.port, '127.0.0.1');
}
