import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createBullBoard } from '@bull-board/api';
import { ExpressAdapter as BoardAdapter } from '@bull-board/express';
import {
  All,
  Body,
  type CallHandler,
  type CanActivate,
  ConflictException,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  HttpException,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestModule,
  Param,
  Post,
  Put,
  Query,
  Redirect,
  RequestMethod,
  Req,
  Res,
  Sse,
  StreamableFile,
  UnauthorizedException,
  UseGuards,
  UseInterceptors,
  Version,
  VersioningType,
  type INestApplication,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { Express, NextFunction, Request, Response } from 'express';
import { map, of, type Observable } from 'rxjs';
import { createLogger, loadApiConfig } from '@app/runtime';
import { ApiAdapter } from '../apps/api/src/http/api.adapter.js';
import { ErrorFilter } from '../apps/api/src/http/error.filter.js';
import { ApiClient } from './support/api-client.js';
import { freshEnvironment } from './support/service.js';

const storage = new AsyncLocalStorage<string>();

@Injectable()
class DenyAll implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

@Injectable()
class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.headers.authorization === undefined) throw new UnauthorizedException();
    return true;
  }
}

@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Controller('cats')
class CatsController {
  @Get()
  findAll(@Query('limit') limit = 'all'): object {
    return { cats: limit };
  }

  @Get('text')
  text(): string {
    return 'This action returns all cats';
  }

  @Get('file')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('meow'), { type: 'text/plain' });
  }

  @Get('express')
  express(@Req() request: Request, @Res() response: Response): void {
    response.status(418).json({ ip: request.ip });
  }

  @Get('docs')
  @Redirect('https://docs.nestjs.com', 302)
  docs(): void {
    return;
  }

  @Post()
  @HttpCode(204)
  @Header('Cache-Control', 'no-cache')
  create(): void {
    return;
  }

  @Post('echo')
  echo(@Body() body: unknown): unknown {
    return body;
  }

  @Get('header')
  @Header('Cache-Control', 'max-age=60')
  header(): object {
    return {};
  }

  @Get('store')
  store(): object {
    return { store: storage.getStore() ?? null };
  }

  @Post('store')
  storeOfPost(): object {
    return { store: storage.getStore() ?? null };
  }

  @Get('guarded')
  @UseGuards(AuthGuard)
  guarded(): object {
    return { ok: true };
  }

  @Get('denied')
  @UseGuards(DenyAll)
  denied(): object {
    return { ok: true };
  }

  @Get('conflict')
  conflict(): never {
    throw new ConflictException('This cat is taken');
  }

  @Get('legal')
  legal(): never {
    throw new HttpException('Not in your country', 451);
  }

  @Get('intercepted')
  @UseInterceptors(TransformInterceptor)
  intercepted(): object {
    return { id: 1 };
  }

  @Get('request')
  request(@Req() request: Request, @Res({ passthrough: true }) response: Response): object {
    response.locals['seen'] = true;
    const { originalUrl, baseUrl, params } = request;
    return { originalUrl, baseUrl, params, locals: response.locals };
  }

  @Get('missing-file')
  missingFile(@Res() response: Response): void {
    response.sendFile('/no/such/file');
  }

  @Get('partial')
  partial(@Res() response: Response): void {
    response.write('half of');
    throw new Error('broken');
  }

  @Get('head')
  writesHead(@Res() response: Response): void {
    response.setHeader('X-Other', '1');
    response.writeHead(200, { 'Cache-Control': 'max-age=1' }).end();
  }

  @Get('typed')
  @Header('Content-Type', 'application/hal+json')
  typed(): object {
    return { typed: true };
  }

  @All('any')
  any(@Body() body: unknown): object {
    return { body };
  }

  @Sse('events')
  events(): Observable<object> {
    return of({ data: 'purr' });
  }

  @Get(':id')
  findOne(@Param('id') id: string): object {
    return { id };
  }

  @Put(':id')
  update(@Param('id') id: string, @Body() body: object): object {
    return { id, body };
  }
}

@Controller('versions')
class VersionsController {
  @Version('1')
  @Get()
  first(): object {
    return { version: 1 };
  }

  @Version('2')
  @Get()
  second(): object {
    return { version: 2 };
  }
}

interface Running {
  client: ApiClient;
  app: INestApplication;
}

const running: INestApplication[] = [];

/** Starts a Nest application on the API's adapter, with its error filter. */
async function start(
  module: object,
  configure: (app: INestApplication) => unknown = () => undefined,
  env = {},
): Promise<Running> {
  const config = loadApiConfig(freshEnvironment(env));
  const errors = new ErrorFilter(createLogger('test', 'silent'), () => '');
  @Module({ imports: [module as never], providers: [{ provide: APP_FILTER, useValue: errors }] })
  class TestModule {}
  const adapter = new ApiAdapter(config, errors);
  const app = await NestFactory.create(TestModule, adapter, { bodyParser: false, logger: false });
  running.push(app);
  await configure(app);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { app, client: new ApiClient(`http://127.0.0.1:${String(port)}`) };
}

const get = (client: ApiClient, path: string, headers: Record<string, string> = {}) =>
  fetch(`${client.base}${path}`, { headers, redirect: 'manual' });
const send = (client: ApiClient, method: string, path: string, body: unknown) =>
  fetch(`${client.base}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

@Module({ controllers: [CatsController] })
class CatsModule {}

@Module({ controllers: [VersionsController] })
class VersionsModule {}

@Module({
  imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 2 }])],
  controllers: [CatsController],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
class ThrottledModule {}

@Module({ controllers: [CatsController] })
class LoggedCatsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: Request, response: Response, next: NextFunction) => {
        response.setHeader('X-Middleware', 'yes');
        storage.run('middleware', next);
      })
      .forRoutes('cats/store');
  }
}

afterAll(async () => {
  await Promise.all(running.map((app) => app.close()));
});

describe.each(['on', 'off'])('A Nest application that uses ApiAdapter (fast lane %s)', (lane) => {
  const env = { FAST_LANE: lane };
  let client: ApiClient;
  beforeAll(async () => {
    ({ client } = await start(CatsModule, undefined, env));
  });

  it('serves routes with parameters by GET and PUT', async () => {
    expect(await (await get(client, '/cats/7')).json()).toEqual({ id: '7' });
    expect(await (await send(client, 'PUT', '/cats/7', { name: 'Tom' })).json()).toEqual({
      id: '7',
      body: { name: 'Tom' },
    });
  });

  it('reads the query', async () => {
    expect(await (await get(client, '/cats?limit=3')).json()).toEqual({ cats: '3' });
  });

  it('sends strings, files and responses written with the methods of Express', async () => {
    const text = await get(client, '/cats/text');
    expect(text.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await text.text()).toBe('This action returns all cats');
    const file = await get(client, '/cats/file');
    expect(file.headers.get('content-type')).toBe('text/plain');
    expect(await file.text()).toBe('meow');
    const teapot = await get(client, '/cats/express');
    expect([teapot.status, await teapot.json()]).toEqual([418, { ip: '127.0.0.1' }]);
  });

  it('obeys @HttpCode, @Header and @Redirect', async () => {
    const created = await send(client, 'POST', '/cats', {});
    expect([created.status, created.headers.get('cache-control')]).toEqual([204, 'no-cache']);
    expect((await get(client, '/cats/header')).headers.get('cache-control')).toBe('max-age=60');
    const redirect = await get(client, '/cats/docs');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'https://docs.nestjs.com']);
  });

  it('sends the exceptions of Nest with their status and the error body that all errors share', async () => {
    const expected = [
      ['/cats/guarded', 401, 'UNAUTHORIZED', 'Unauthorized'],
      ['/cats/denied', 403, 'FORBIDDEN', 'Forbidden resource'],
      ['/cats/conflict', 409, 'CONFLICT', 'This cat is taken'],
      ['/nothing', 404, 'NOT_FOUND', 'No such path'],
    ] as const;
    for (const [path, status, code, message] of expected) {
      const response = await get(client, path);
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual({ defined: false, code, status, message });
    }
    expect((await get(client, '/cats/legal')).status).toBe(451);
    expect((await get(client, '/cats/guarded', { Authorization: 'Bearer x' })).status).toBe(200);
  });

  it('responds with 405 to a method that the path does not have, and with 204 to OPTIONS', async () => {
    const wrong = await send(client, 'PATCH', '/cats', {});
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    const options = await fetch(`${client.base}/cats`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  it('sets the properties of requests and responses that Express sets', async () => {
    expect(await (await get(client, '/cats/request?a=1')).json()).toEqual({
      originalUrl: '/cats/request?a=1',
      baseUrl: '',
      params: {},
      locals: { seen: true },
    });
    expect((await get(client, '/cats/missing-file')).status).toBe(404);
    expect((await get(client, '/cats/%ff')).status).toBe(400);
  });

  it('sends each header that a handler sets once', async () => {
    expect((await get(client, '/cats/head')).headers.get('cache-control')).toBe('max-age=1');
    const typed = await get(client, '/cats/typed');
    expect(typed.headers.get('content-type')).toMatch(/^application\/hal\+json/);
    expect(await typed.json()).toEqual({ typed: true });
  });

  it('closes the connection if a handler fails in the middle of its response', async () => {
    await expect(get(client, '/cats/partial').then((response) => response.text())).rejects.toThrow();
  });

  it('parses the body for @All routes, and streams the events of @Sse routes', async () => {
    expect(await (await send(client, 'PUT', '/cats/any', { a: 1 })).json()).toEqual({ body: { a: 1 } });
    const events = await get(client, '/cats/events');
    expect(events.headers.get('content-type')).toBe('text/event-stream');
    expect(await events.text()).toContain('data: purr');
  });

  it('responds to OPTIONS on a route with parameters', async () => {
    const options = await fetch(`${client.base}/cats/7`, { method: 'OPTIONS' });
    expect(options.ok).toBe(true);
    expect(options.headers.get('allow')).toContain('PUT');
  });

  it('calls interceptors', async () => {
    expect(await (await get(client, '/cats/intercepted')).json()).toEqual({ data: { id: 1 } });
  });

  it('sends the common headers and a request id with every response', async () => {
    for (const path of ['/cats', '/cats/7', '/cats/text', '/nothing']) {
      const { headers } = await get(client, path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    }
  });

  it('keeps the async context of middleware up to the handler', async () => {
    const { client: logged } = await start(LoggedCatsModule, undefined, env);
    for (const response of [await get(logged, '/cats/store'), await send(logged, 'POST', '/cats/store', {})]) {
      expect(response.headers.get('x-middleware')).toBe('yes');
      expect(await response.json()).toEqual({ store: 'middleware' });
    }
    const other = await get(logged, '/cats');
    expect(other.headers.get('x-middleware')).toBeNull();
  });

  it('keeps the async context of the server up to the handler', async () => {
    const { client: stored } = await start(
      CatsModule,
      (app) =>
        (app.getHttpServer() as Server).prependListener('request', () => {
          storage.enterWith('server');
        }),
      env,
    );
    expect(await (await send(stored, 'POST', '/cats/store', { a: 'x'.repeat(100_000) })).json()).toEqual({
      store: 'server',
    });
  });

  it('runs global middleware, app.use with a path, and body parsers', async () => {
    const paths: string[] = [];
    const { client: used } = await start(
      CatsModule,
      (app) => {
        app.use('/cats/echo', (request: Request, _response: Response, next: NextFunction) => {
          paths.push(request.originalUrl);
          next();
        });
        app.enableCors({ origin: 'https://shop.example' });
      },
      env,
    );
    expect(await (await send(used, 'POST', '/cats/echo', { a: 1 })).json()).toEqual({ a: 1 });
    expect(
      (await get(used, '/cats', { Origin: 'https://shop.example' })).headers.get('access-control-allow-origin'),
    ).toBe('https://shop.example');
    expect(paths).toEqual(['/cats/echo']);
  });

  it('runs middleware whose path ends with a slash, that is chained, or that is for one method', async () => {
    const deny = (_request: Request, response: Response): void => void response.status(401).end();
    const calls: string[] = [];
    @Module({ controllers: [CatsController] })
    class MethodModule implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer
          .apply((request: Request, _response: Response, next: NextFunction) => {
            request.on('end', () => calls.push('read')).resume();
            request.once('end', next);
          })
          .forRoutes({ path: 'cats/echo', method: RequestMethod.POST });
      }
    }
    const { client: used } = await start(
      MethodModule,
      (app) => {
        app.use('/cats/text/', deny);
        const express = (app.getHttpAdapter() as ApiAdapter).getInstance<Express>();
        express.use('/nowhere', deny).use('/cats/header', deny);
      },
      env,
    );
    expect((await get(used, '/cats/text')).status).toBe(401);
    expect((await get(used, '/cats/header')).status).toBe(401);
    expect((await get(used, '/cats')).status).toBe(200);
    // The middleware has consumed the body.
    expect((await send(used, 'POST', '/cats/echo', { a: 1 })).status).toBe(201);
    expect(calls).toEqual(['read']);
  });

  it('versions routes by URI and by header', async () => {
    const byUri = await start(VersionsModule, (app) => app.enableVersioning({ type: VersioningType.URI }), env);
    expect(await (await get(byUri.client, '/v2/versions')).json()).toEqual({ version: 2 });
    const byHeader = await start(
      VersionsModule,
      (app) => app.enableVersioning({ type: VersioningType.HEADER, header: 'X-Version' }),
      env,
    );
    expect((await get(byHeader.client, '/versions', { 'X-Version': '3' })).status).toBe(404);
    for (const version of [1, 2]) {
      const response = await get(byHeader.client, '/versions', { 'X-Version': String(version) });
      expect(await response.json()).toEqual({ version });
    }
  });

  it('limits requests with the ThrottlerGuard', async () => {
    const { client: throttled } = await start(ThrottledModule, undefined, env);
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await get(throttled, '/cats')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('serves the page that SwaggerModule.setup adds', async () => {
    const { client: documented } = await start(
      CatsModule,
      (app) => {
        const document = SwaggerModule.createDocument(app, new DocumentBuilder().setTitle('Cats').build());
        SwaggerModule.setup('api', app, document);
      },
      env,
    );
    expect(await (await get(documented, '/api')).text()).toContain('swagger-ui');
    expect(await (await get(documented, '/api-json')).json()).toMatchObject({ info: { title: 'Cats' } });
  });

  it('serves the bull-board router', async () => {
    const board = new BoardAdapter();
    board.setBasePath('/queues');
    createBullBoard({ queues: [], serverAdapter: board });
    const { client: withBoard } = await start(CatsModule, (app) => app.use('/queues', board.getRouter()), env);
    expect(await (await get(withBoard, '/queues/')).text()).toContain('Bull');
    expect(await (await get(withBoard, '/queues/api/queues')).json()).toMatchObject({ queues: [] });
  });
});
