// The other half of the tutorial: one insert per job, with the item as the return value of the job.
import type { CreateItemInput, Item } from '@app/contracts';
import { Worker, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { createModels } from './item-model.js';
import { COUNTER, WRITE_CONCERN, loadReferences, reportReady, settings, toItem, toRecord } from './items.js';

/** Tutorials recommend 10 to 50; the highest is the fastest. */
const CONCURRENCY = 50;

async function start(): Promise<void> {
  const connection = await mongoose.createConnection(settings.mongodbUri, WRITE_CONCERN).asPromise();
  const models = createModels(connection);
  const references = await loadReferences(models.items.db.getClient().db());

  const create = async (job: Job<CreateItemInput, Item>): Promise<Item> => {
    const counter = await models.counters
      .findOneAndUpdate({ _id: COUNTER }, { $inc: { value: 1 } }, { upsert: true, returnDocument: 'after' })
      .orFail()
      .lean();
    const item = await models.items.create(toRecord(job.data, counter.value, references));
    return toItem(item.toObject());
  };

  const worker = new Worker<CreateItemInput, Item>(settings.queue, create, {
    connection: new Redis(settings.redisUrl, { maxRetriesPerRequest: null }),
    concurrency: CONCURRENCY,
  });
  await worker.waitUntilReady();
  reportReady();
}

void start();
