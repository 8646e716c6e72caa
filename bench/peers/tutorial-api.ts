// The queue as tutorials show it: the API adds a job and waits with `waitUntilFinished`.
import 'reflect-metadata';
import { CreateItemInputSchema, type Item } from '@app/contracts';
import { Body, Controller, HttpCode, Inject, Injectable, Module, Post } from '@nestjs/common';
import { APP_PIPE, NestFactory } from '@nestjs/core';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { createZodDto, ZodValidationPipe } from 'nestjs-zod';
import { reportReady, settings } from './items.js';

class CreateItemDto extends createZodDto(CreateItemInputSchema) {}

const WAIT_MS = 10_000;
const QUEUE = Symbol('Queue');
const QUEUE_EVENTS = Symbol('QueueEvents');

@Injectable()
class ItemsService {
  constructor(
    @Inject(QUEUE) private readonly queue: Queue<CreateItemDto, Item>,
    @Inject(QUEUE_EVENTS) private readonly events: QueueEvents,
  ) {}

  async create(input: CreateItemDto): Promise<Item> {
    const job = await this.queue.add('create', input);
    return job.waitUntilFinished(this.events, WAIT_MS);
  }
}

@Controller('api/orpc/items')
class ItemsController {
  constructor(private readonly items: ItemsService) {}

  @Post('create')
  @HttpCode(200)
  create(@Body() input: CreateItemDto): Promise<Item> {
    return this.items.create(input);
  }
}

async function start(): Promise<void> {
  const connect = (): Redis => new Redis(settings.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<CreateItemDto, Item>(settings.queue, {
    connection: connect(),
    // By default, BullMQ keeps every job forever.
    defaultJobOptions: { attempts: 3, removeOnComplete: { count: 5000 }, removeOnFail: { count: 5000 } },
  });
  const events = new QueueEvents(settings.queue, { connection: connect() });
  // Each waiting request adds listeners to both.
  queue.setMaxListeners(0);
  events.setMaxListeners(0);
  await events.waitUntilReady();

  @Module({
    controllers: [ItemsController],
    providers: [
      ItemsService,
      { provide: QUEUE, useValue: queue },
      { provide: QUEUE_EVENTS, useValue: events },
      { provide: APP_PIPE, useClass: ZodValidationPipe },
    ],
  })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(settings.port, '127.0.0.1');
  reportReady();
}

void start();
