// What a team writes first: a Nest app that stores each item with mongoose while it handles the request.
import { CreateItemInputSchema, GetAllInputSchema, GetByIdInputSchema, type Item } from '@app/contracts';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { createZodDto } from 'nestjs-zod';
import { ItemsService } from './items-service.js';
import { serve } from './nest-app.js';

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

void serve(ItemsController, [{ provide: ItemsService, useFactory: () => ItemsService.connect() }]);
