import {
  All,
  Body,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Put,
  Query,
  Sse,
  Version,
  VersioningType,
} from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import type { ApiClient } from './support/api-client.js';
import { describeApplications, get, send, start } from './support/nest-application.js';

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

  @Post()
  create(): void {
    return;
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

@Module({ controllers: [CatsController] })
class CatsModule {}

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

@Module({ controllers: [VersionsController] })
class VersionsModule {}

describeApplications((env) => {
  let client: ApiClient;
  beforeAll(async () => {
    ({ client } = await start(CatsModule, undefined, env));
  });

  it('an application serves routes with parameters by GET and PUT', async () => {
    expect(await (await get(client, '/cats/7')).json()).toEqual({ id: '7' });
    expect((await get(client, '/cats/%ff')).status).toBe(400);
    expect(await (await send(client, 'PUT', '/cats/7', { name: 'Tom' })).json()).toEqual({
      id: '7',
      body: { name: 'Tom' },
    });
  });

  it('an application reads the query', async () => {
    expect(await (await get(client, '/cats?limit=3')).json()).toEqual({ cats: '3' });
  });

  it('an application responds with 405 to a method that the path does not have, and with 204 to OPTIONS', async () => {
    const wrong = await send(client, 'PATCH', '/cats', {});
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    const options = await fetch(`${client.base}/cats`, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  it('an application responds to OPTIONS on a route with parameters', async () => {
    const options = await fetch(`${client.base}/cats/7`, { method: 'OPTIONS' });
    expect(options.ok).toBe(true);
    expect(options.headers.get('allow')).toContain('PUT');
  });

  it('an application parses the body for @All routes, and streams the events of @Sse routes', async () => {
    expect(await (await send(client, 'PUT', '/cats/any', { a: 1 })).json()).toEqual({ body: { a: 1 } });
    const events = await get(client, '/cats/events');
    expect(events.headers.get('content-type')).toBe('text/event-stream');
    expect(await events.text()).toContain('data: purr');
  });

  it('an application sends the common headers and a request id with every response', async () => {
    for (const path of ['/cats', '/cats/7', '/cats/text', '/nothing']) {
      const { headers } = await get(client, path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{36}$/);
    }
  });

  it('an application versions routes by URI and by header', async () => {
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
});
