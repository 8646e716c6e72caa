import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  Injectable,
  Module,
  type NestInterceptor,
  Post,
  Redirect,
  Req,
  Res,
  StreamableFile,
  UseInterceptors,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import type { ApiClient } from './support/api-client.js';
import { describeApplications, get, send, start } from './support/nest-application.js';

@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Controller('cats')
class CatsController {
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

  @Get('header')
  @Header('Cache-Control', 'max-age=60')
  header(): object {
    return {};
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

  @Get('intercepted')
  @UseInterceptors(TransformInterceptor)
  intercepted(): object {
    return { id: 1 };
  }
}

@Module({ controllers: [CatsController] })
class CatsModule {}

describeApplications((env) => {
  let client: ApiClient;
  beforeAll(async () => {
    ({ client } = await start(CatsModule, undefined, env));
  });

  it('an application sends strings, files and responses written with the methods of Express', async () => {
    const text = await get(client, '/cats/text');
    expect(text.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await text.text()).toBe('This action returns all cats');
    const file = await get(client, '/cats/file');
    expect(file.headers.get('content-type')).toBe('text/plain');
    expect(await file.text()).toBe('meow');
    const teapot = await get(client, '/cats/express');
    expect([teapot.status, await teapot.json()]).toEqual([418, { ip: '127.0.0.1' }]);
  });

  it('an application sets the properties of requests and responses that Express sets', async () => {
    expect(await (await get(client, '/cats/request?a=1')).json()).toEqual({
      originalUrl: '/cats/request?a=1',
      baseUrl: '',
      params: {},
      locals: { seen: true },
    });
    expect((await get(client, '/cats/missing-file')).status).toBe(404);
  });

  it('an application obeys @HttpCode, @Header and @Redirect', async () => {
    const created = await send(client, 'POST', '/cats', {});
    expect([created.status, created.headers.get('cache-control')]).toEqual([204, 'no-cache']);
    expect((await get(client, '/cats/header')).headers.get('cache-control')).toBe('max-age=60');
    const redirect = await get(client, '/cats/docs');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, 'https://docs.nestjs.com']);
  });

  it('an application sends each header that a handler sets once', async () => {
    expect((await get(client, '/cats/head')).headers.get('cache-control')).toBe('max-age=1');
    const typed = await get(client, '/cats/typed');
    expect(typed.headers.get('content-type')).toMatch(/^application\/hal\+json/);
    expect(await typed.json()).toEqual({ typed: true });
  });

  it('an application calls interceptors', async () => {
    expect(await (await get(client, '/cats/intercepted')).json()).toEqual({ data: { id: 1 } });
  });
});
