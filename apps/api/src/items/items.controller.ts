import { Body, Controller, HttpCode, Post, Req, Res, UseFilters } from '@nestjs/common';
import { ApiRequest, type ApiResponse } from '../http/api-message.js';
import { Needs } from '../auth/access.js';
import type { Json } from '../orpc/json.js';
import { CategoryIssuesFilter } from './category-issues.filter.js';
import { idempotencyKeyOf } from '../http/headers/idempotency-key.js';
import { CreateItemDto, GetAllDto, GetByIdDto } from './items.dto.js';
import { ItemsService } from './items.service.js';
import { preferencesOf } from '../http/headers/prefer.js';

/** A read with a longer text is abandoned when its client disconnects, so that the text does not stay in memory. */
const LARGE_TEXT = 10_000;

/** The seller of all items while authentication is off. No credential has this name. */
const ANONYMOUS = 'anonymous';

/** The three operations. */
@Controller('api/orpc/items')
export class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Post('getAll')
  @Needs('read')
  @HttpCode(200)
  async getAll(@Body() input: GetAllDto, @Res({ passthrough: true }) response: ApiResponse): Promise<Json> {
    dropUnknownKeys(input, response.req);
    const isLarge = [input.search, input.categoryId].some((text = '') => text.length > LARGE_TEXT);
    const disconnected = isLarge ? closed(response) : undefined;
    const { receivedAt, principal } = response.req;
    const { items, nextAfter } = await this.items.getAll(input, { receivedAt, principal, disconnected });
    if (nextAfter !== undefined) response.setHeader('Next-After', nextAfter);
    return items;
  }

  @Post('getById')
  @Needs('read')
  @HttpCode(200)
  async getById(@Body() input: GetByIdDto, @Req() request: ApiRequest): Promise<Json> {
    dropUnknownKeys(input, request);
    return this.items.getById(input, request.receivedAt);
  }

  @Post('create')
  @Needs('create')
  @HttpCode(200)
  @UseFilters(CategoryIssuesFilter)
  async create(@Body() input: CreateItemDto, @Res({ passthrough: true }) response: ApiResponse): Promise<object> {
    dropUnknownKeys(input, response.req);
    const { requestId, receivedAt, headers, principal } = response.req;
    const created = await this.items.create(input, {
      requestId,
      sellerId: principal?.id ?? ANONYMOUS,
      receivedAt,
      idempotencyKey: idempotencyKeyOf(headers['idempotency-key']),
      preferences: preferencesOf(headers['prefer']),
      disconnected: closed(response),
    });
    if (created.kind === 'queued') {
      response.setHeader('Preference-Applied', 'respond-async');
      response.statusCode = 202;
      return { id: created.id, status: 'queued' };
    }
    if (created.isReplay) response.setHeader('Idempotency-Replayed', 'true');
    return created.item;
  }
}

/** Keeps only the validated input of a request in memory while the request waits. */
function dropUnknownKeys(input: object, request: ApiRequest): void {
  request.body = input;
}

/** Resolves when the client has disconnected: nothing else closes a response before it is sent. */
function closed(response: ApiResponse): Promise<void> {
  if (response.closed) return Promise.resolve();
  return new Promise((resolve) => response.once('close', resolve));
}
