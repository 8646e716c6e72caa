import { AsyncLocalStorage } from 'node:async_hooks';
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBullBoard } from '@bull-board/api';
import { ExpressAdapter as BoardAdapter } from '@bull-board/express';
import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Injectable,
  type INestApplication,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Post,
  RequestMethod,
  UseFilters,
} from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import type { Express, NextFunction, Request, Response } from 'express';
import type { ApiAdapter } from '../apps/api/src/http/api.adapter.js';
import { describeApplications, get, send, start } from './support/nest-application.js';

const storage = new AsyncLocalStorage<string>();

@Catch()
class StoreFilter implements ExceptionFilter {
  static readonly finishedIn: (string | undefined)[] = [];

  catch(_error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.on('finish', () => StoreFilter.finishedIn.push(storage.getStore()));
    response.status(500).json({ store: storage.getStore() ?? null });
  }
}

@Injectable()
class CatsService {
  async store(): Promise<object> {
    await nextTurn();
    return { store: storage.getStore() ?? null };
  }
}

@Controller('cats')
class CatsController {
  constructor(private readonly cats: CatsService) {}

  @Get()
  findAll(): object {
    return {};
  }

  @Get('text')
  text(): string {
    return 'This action returns all cats';
  }

  @Post('echo')
  echo(@Body() body: unknown): unknown {
    return body;
  }

  @Get('header')
  header(): object {
    return {};
  }

  @Get('store')
  store(): object {
    return { store: storage.getStore() ?? null };
  }

  @Get('store/service')
  storeOfService(): Promise<object> {
    return this.cats.store();
  }

  @Post('store')
  storeOfPost(): object {
    return { store: storage.getStore() ?? null };
  }

  @Post('failing')
  @UseFilters(StoreFilter)
  async failing(): Promise<void> {
    await Promise.reject(new Error('failed'));
  }
}

@Module({ controllers: [CatsController], providers: [CatsService] })
class CatsModule {}

@Module({ controllers: [CatsController], providers: [CatsService] })
class LoggedCatsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: Request, response: Response, next: NextFunction) => {
        response.setHeader('X-Middleware', 'yes');
        storage.run('middleware', next);
      })
      .forRoutes('cats/store', 'cats/store/service');
  }
}

/** Sets the async context of each request at its earliest, as tracing does. */
function enterOnRequest(app: INestApplication): void {
  (app.getHttpServer() as Server).prependListener('request', () => {
    storage.enterWith('server');
  });
}

describeApplications((env) => {
  it('an application keeps the async context of middleware up to the handler', async () => {
    const { client: logged } = await start(LoggedCatsModule, undefined, env);
    const paths = ['/cats/store', '/cats/store/service'];
    const responses = [...paths.map((path) => get(logged, path)), send(logged, 'POST', '/cats/store', {})];
    for (const response of await Promise.all(responses)) {
      expect(response.headers.get('x-middleware')).toBe('yes');
      expect(await response.json()).toEqual({ store: 'middleware' });
    }
    const other = await get(logged, '/cats');
    expect(other.headers.get('x-middleware')).toBeNull();
  });

  it('an application keeps the async context of the server up to the handler', async () => {
    const { client: stored } = await start(CatsModule, enterOnRequest, env);
    expect(await (await send(stored, 'POST', '/cats/store', { a: 'x'.repeat(100_000) })).json()).toEqual({
      store: 'server',
    });
  });

  it('an application keeps the async context of the server in filters, and until the response is sent', async () => {
    const { client: stored } = await start(CatsModule, enterOnRequest, env);
    const failed = await send(stored, 'POST', '/cats/failing', { a: 'x'.repeat(100_000) });
    expect([failed.status, await failed.json()]).toEqual([500, { store: 'server' }]);
    expect(StoreFilter.finishedIn.pop()).toBe('server');
  });

  it('an application runs global middleware, app.use with a path, and body parsers', async () => {
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

  it('a handler outside /api/orpc/ gets a body in the form of the envelope of oRPC clients as it was sent', async () => {
    const { client: cats } = await start(CatsModule, undefined, env);
    const body = { json: { a: 1 }, meta: [] };
    expect(await (await send(cats, 'POST', '/cats/echo', body)).json()).toEqual(body);
  });

  it('an application runs middleware whose path ends with a slash, that is chained, or that is for one method', async () => {
    const deny = (_request: Request, response: Response): void => void response.status(401).end();
    const calls: string[] = [];
    @Module({ controllers: [CatsController], providers: [CatsService] })
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

  it('an application serves the page that SwaggerModule.setup adds', async () => {
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

  it('an application serves the bull-board router', async () => {
    const board = new BoardAdapter();
    board.setBasePath('/queues');
    createBullBoard({ queues: [], serverAdapter: board });
    const { client: withBoard } = await start(CatsModule, (app) => app.use('/queues', board.getRouter()), env);
    expect(await (await get(withBoard, '/queues/')).text()).toContain('Bull');
    expect(await (await get(withBoard, '/queues/api/queues')).json()).toMatchObject({ queues: [] });
  });
});
