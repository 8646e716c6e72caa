// The queue as tutorials show it: the API adds a job and waits with `waitUntilFinished`.
import { CreateItemInputSchema, type Item } from '@app/contracts';
import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { createZodDto } from 'nestjs-zod';
import { settings } from './items.js';
import { serve } from './nest-app.js';

class CreateItemDto extends createZodDto(CreateItemInputSchema) {}

const WAIT_MS = 10_000;

@Controller('api/orpc/items')
class ItemsController {
  constructor(
    private readonly queue: Queue<CreateItemDto, Item>,
    private readonly events: QueueEvents,
  ) {}

  @Post('create')
  @HttpCode(200)
  async create(@Body() input: CreateItemDto): Promise<Item> {
    const job = await this.queue.add('create', input);
    return job.waitUntilFinished(this.events, WAIT_MS);
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
  await serve(ItemsController, [
    { provide: Queue, useValue: queue },
    { provide: QueueEvents, useValue: events },
  ]);
}

void start();
