// The minimum that does the work: node:http and the MongoDB driver, one counter increment and one insert per create.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { CreateItemInputSchema, GetAllInputSchema, GetByIdInputSchema, type Item } from '@app/contracts';
import { mongoId, type ItemRecord } from '@app/database';
import { mongo } from 'mongoose';
import type { Counter } from './item-model.js';
import {
  RESPONSE_PROJECTION,
  COUNTER,
  WRITE_CONCERN,
  loadReferences,
  pageQuery,
  settings,
  toItem,
  toRecord,
} from './items.js';

type Handler = (body: unknown) => Promise<Item | Item[] | null>;

async function start(): Promise<void> {
  const client = await new mongo.MongoClient(settings.mongodbUri, { writeConcern: WRITE_CONCERN }).connect();
  const db = client.db();
  const items = db.collection<ItemRecord>('items');
  const counters = db.collection<Counter>('counters');
  const references = await loadReferences(db);

  const handlers: Record<string, Handler> = {
    '/api/orpc/items/create': async (body) => {
      const input = CreateItemInputSchema.parse(body);
      const options = { upsert: true, returnDocument: 'after' } as const;
      const counter = await counters.findOneAndUpdate({ _id: COUNTER }, { $inc: { value: 1 } }, options);
      const record = toRecord(input, counter?.value ?? 0, references);
      await items.insertOne(record);
      return toItem(record);
    },
    '/api/orpc/items/getById': async (body) => {
      const id = mongoId(GetByIdInputSchema.parse(body).id);
      const found = await items.findOne({ _id: id }, { projection: RESPONSE_PROJECTION });
      return found && toItem(found);
    },
    '/api/orpc/items/getAll': async (body) => {
      const { filter, options } = pageQuery(GetAllInputSchema.parse(body));
      const found = await items.find(filter, { ...options, projection: RESPONSE_PROJECTION }).toArray();
      return found.map(toItem);
    },
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    void handle(handlers[request.url ?? ''], request, response);
  };
  createServer(listener).listen(settings.port, '127.0.0.1');
}

async function handle(handler: Handler | undefined, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const found = await handler?.(JSON.parse(await read(request)));
    respond(response, found ? 200 : 404, found ?? {});
  } catch {
    respond(response, 500, {});
  }
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(request, 'end');
  return Buffer.concat(chunks).toString();
}

function respond(response: ServerResponse, status: number, body: object): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length }).end(bytes);
}

void start();
