// The queue as tutorials show it: the API adds a job and waits with `waitUntilFinished`.
import type { CreateItemInput, Item } from '@app/contracts';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { ItemsService } from './items-service.js';
import { settings } from './items.js';
import { serve } from './nest-app.js';

const WAIT_MS = 10_000;

async function start(): Promise<void> {
  const connect = (): Redis => new Redis(settings.redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue<CreateItemInput, Item>(settings.queue, {
    connection: connect(),
    // By default, BullMQ keeps every job forever.
    defaultJobOptions: { attempts: 3, removeOnComplete: { count: 5000 }, removeOnFail: { count: 5000 } },
  });
  const events = new QueueEvents(settings.queue, { connection: connect() });
  // Each waiting request adds listeners to both.
  queue.setMaxListeners(0);
  events.setMaxListeners(0);
  await events.waitUntilReady();
  const items = await ItemsService.connect();
  const create = async (input: CreateItemInput): Promise<Item> => {
    const job = await queue.add('create', input);
    return job.waitUntilFinished(events, WAIT_MS);
  };
  await serve({ create, getById: (id) => items.getById(id), getAll: (input) => items.getAll(input) });
}

void start();
