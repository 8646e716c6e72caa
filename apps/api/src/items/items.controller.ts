import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { Item } from '@app/contracts';
import type { ApiRequest } from '../orpc/answer.js';
import { CreateInputPipe, type ValidCreate } from './create-input.pipe.js';
import { GetAllDto, GetByIdDto } from './items.dto.js';
import { ItemsService } from './items.service.js';

/** The three operations. */
@Controller('api/orpc/items')
export class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Post('getAll')
  @HttpCode(200)
  async getAll(@Body() input: GetAllDto): Promise<Item[]> {
    return this.items.getAll(input);
  }

  @Post('getById')
  @HttpCode(200)
  async getById(@Body() input: GetByIdDto): Promise<Item> {
    return this.items.getById(input);
  }

  @Post('create')
  @HttpCode(200)
  async create(@Body(CreateInputPipe) create: ValidCreate, @Req() request: ApiRequest): Promise<Item> {
    return this.items.create(create, request.requestId);
  }
}
