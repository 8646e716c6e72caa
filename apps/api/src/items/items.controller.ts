import { Body, Controller, HttpCode, Post, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { sendJson, ApiRequest, type ApiResponse } from '../http/api-message.js';
import type { Json } from '../orpc/json.js';
import { CategoryIssuesFilter } from './category-issues.filter.js';
import { CreatePacingGuard } from './create-pacing.guard.js';
import { idempotencyKeyOf } from '../http/idempotency-key.js';
import { CreateItemDto, GetAllDto, GetByIdDto } from './items.dto.js';
import { ItemsService } from './items.service.js';
import { preferencesOf } from '../http/prefer.js';

/** The three operations. */
@Controller('api/orpc/items')
export class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Post('getAll')
  @HttpCode(200)
  async getAll(@Body() input: GetAllDto, @Res({ passthrough: true }) response: ApiResponse): Promise<Json> {
    const { items, nextAfter } = await this.items.getAll(input, response.req.receivedAt);
    if (nextAfter !== undefined) response.setHeader('Next-After', nextAfter);
    return items;
  }

  @Post('getById')
  @HttpCode(200)
  async getById(@Body() input: GetByIdDto, @Req() request: ApiRequest): Promise<Json> {
    return this.items.getById(input, request.receivedAt);
  }

  @Post('create')
  @UseGuards(CreatePacingGuard)
  @UseFilters(CategoryIssuesFilter)
  async create(@Body() input: CreateItemDto, @Res() response: ApiResponse): Promise<void> {
    const { requestId, arrivedAt, headers, socket } = response.req;
    if (socket.destroyed) return; // The client disconnected while the request waited for its turn.
    const created = await this.items.create(input, {
      requestId,
      arrivedAt,
      idempotencyKey: idempotencyKeyOf(headers['idempotency-key']),
      preferences: preferencesOf(headers['prefer']),
      // Nothing else closes a response before it is sent.
      disconnected: new Promise((resolve) => response.once('close', resolve)),
    });
    if (created.kind === 'queued') {
      response.setHeader('Preference-Applied', 'respond-async');
      sendJson(response, 202, { id: created.id, status: 'queued' });
      return;
    }
    if (created.isReplay) response.setHeader('Idempotency-Replayed', 'true');
    sendJson(response, 200, created.item);
  }
}
