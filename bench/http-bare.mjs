// The API without its HTTP layer: the same modules behind a minimal server, without request ids, limits, checks of
// path, method, media type or UTF-8, envelope or security headers. With `node http-bare.mjs express`, Express routes
// requests to Nest's handlers, as in any Nest application. With `direct`, they are called directly.
import 'reflect-metadata';
import { createServer } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Registry } from 'prom-client';
import { ApiModule } from '../dist/apps/api/src/api.module.js';
import { ErrorFilter } from '../dist/apps/api/src/http/error.filter.js';
import { Json } from '../dist/apps/api/src/orpc/json.js';
import { Database } from '../dist/libs/database/src/index.js';
import { createLogger, loadApiConfig } from '../dist/libs/runtime/src/index.js';

class BareAdapter extends ExpressAdapter {
  initHttpServer() {
    const next = this.listener();
    const server = createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        if (chunks.length > 0) request.body = JSON.parse(Buffer.concat(chunks).toString());
        // The deadline of a read counts from here.
        request.receivedAt = performance.now();
        next(request, response);
      });
    });
    this.setHttpServer(server);
  }

  listener() {
    return this.getInstance();
  }

  reply(response, body, status = response.statusCode) {
    const bytes = (body instanceof Json ? body : Json.of(body)).toBytes(false);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length }).end(bytes);
  }
}

class DirectAdapter extends BareAdapter {
  handlers = new Map();
  get = (path, handler) => this.handlers.set(path, handler);
  post = this.get;

  listener() {
    return (request, response) => this.handlers.get(request.url)(request, response);
  }

  status(response, status) {
    response.statusCode = status;
  }
}

const adapter = { express: BareAdapter, direct: DirectAdapter }[process.argv[2]];
const config = loadApiConfig();
const logger = await createLogger('bare', config.logLevel);
const errors = new ErrorFilter(logger, () => undefined);
const shared = { logger, errors, registry: new Registry(), callerAddress: () => '' };
const module = ApiModule.with(config, shared);
const app = await NestFactory.create(module, new adapter(), { bodyParser: false, logger: ['error', 'warn'] });
await app.get(Database).connect(console.error);
await app.listen(config.port, config.host);
