// The API of the service without its way in: the same modules behind the least that can be before them. No request id,
// no limits, no checks of path, method, media type or UTF-8, no envelope, no security headers.
import 'reflect-metadata';
import { createServer } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { ApiModule } from '../dist/apps/api/src/api.module.js';
import { ErrorFilter } from '../dist/apps/api/src/orpc/error.filter.js';
import { Json } from '../dist/apps/api/src/orpc/json.js';
import { Database } from '../dist/libs/database/src/index.js';
import { createLogger, loadApiConfig } from '../dist/libs/runtime/src/index.js';

class BareAdapter extends ExpressAdapter {
  initHttpServer() {
    const next = this.getInstance();
    this.httpServer = createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        if (chunks.length > 0) request.body = JSON.parse(Buffer.concat(chunks).toString());
        next(request, response);
      });
    });
  }

  reply(response, body, status = response.statusCode) {
    const bytes = body instanceof Json ? body.toBytes(false) : Buffer.from(JSON.stringify(body));
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length }).end(bytes);
  }
}

const config = loadApiConfig();
const logger = createLogger('bare', config.logLevel);
const module = ApiModule.with(config, logger, new ErrorFilter(logger));
const app = await NestFactory.create(module, new BareAdapter(), { bodyParser: false, logger: ['error', 'warn'] });
void app.get(Database).connect(console.error);
await app.listen(config.port, config.host);
