// The other half of the tutorial: one insert per job, with the item as the return value of the job.
import { createServer } from 'node:http';
import type { CreateItemInput, Item } from '@app/contracts';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { ItemsService } from './items-service.js';
import { settings } from './items.js';

/** Tutorials recommend 10 to 50; the highest is the fastest. */
const CONCURRENCY = 50;

async function start(): Promise<void> {
  const items = await ItemsService.connect();
  const worker = new Worker<CreateItemInput, Item>(settings.queue, (job) => items.create(job.data), {
    connection: new Redis(settings.redisUrl, { maxRetriesPerRequest: null }),
    concurrency: CONCURRENCY,
  });
  await worker.waitUntilReady();
  // Tells the benchmark that the worker is ready.
  createServer((_request, response) => response.end()).listen(settings.workerPort, '127.0.0.1');
}

void start();
