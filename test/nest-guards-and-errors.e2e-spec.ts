import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import {
  type ArgumentsHost,
  BadRequestException,
  type CanActivate,
  Catch,
  ConflictException,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  HttpException,
  HttpStatus,
  Injectable,
  InternalServerErrorException,
  Module,
  Param,
  ParseIntPipe,
  Query,
  Res,
  UnauthorizedException,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, APP_PIPE, BaseExceptionFilter } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { InputPipe } from '../apps/api/src/http/input.pipe.js';
import type { ApiClient } from './support/api-client.js';
import { describeApplications, get, start } from './support/nest-application.js';

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

type UserRequest = Request & { user?: string | undefined };

@Injectable()
class UserGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<UserRequest>();
    request.user = request.get('X-User');
    return request.user !== undefined;
  }
}

const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<UserRequest>().user;
});

/** As Nest's documentation shows it, but without a schema. */
class SortDto {
  sort?: string;
}

@Controller('users')
class UsersController {
  @Get('me')
  @UseGuards(UserGuard)
  me(@CurrentUser() user: string): object {
    return { user };
  }

  @Get(':id/items')
  items(@Param('id') id: string, @Query('page', ParseIntPipe) page: number, @Query('sort') sort?: string): object {
    return { id, page, sort };
  }

  @Get(':id/bids')
  bids(@Query() query: SortDto): object {
    return query;
  }
}

@Module({ controllers: [UsersController], providers: [{ provide: APP_PIPE, useClass: InputPipe }] })
class UsersModule {}

const EXCEPTIONS = {
  custom: () => new HttpException({ status: 403, error: 'This is a custom message' }, 403),
  validation: () => new BadRequestException({ errors: [{ field: 'name' }], count: 1n, check: () => true }),
  parts: () => new BadRequestException({ message: ['a is short', 'b is long'], error: { id: 7 }, status: 'locked' }),
  list: () => new HttpException(['a is short', 'b is long'], 400),
  described: () => new BadRequestException('No such cat', { description: 'A cat that left' }),
  secret: () => new InternalServerErrorException({ message: 'No more cats', path: '/srv/cats' }),
};

/** As in the documentation (https://docs.nestjs.com/exception-filters#inheritance). */
@Catch()
class AllExceptionsFilter extends BaseExceptionFilter {
  override catch(exception: unknown, host: ArgumentsHost): void {
    super.catch(exception, host);
  }
}

@Controller('cats')
class CatsController {
  @Get('statuses/:status')
  status(@Param('status', ParseIntPipe) status: number): never {
    throw new HttpException('Sorry', status);
  }

  @Get('exceptions/:name')
  exception(@Param('name') name: keyof typeof EXCEPTIONS): never {
    throw EXCEPTIONS[name]();
  }

  @Get()
  findAll(): object {
    return {};
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

  @Get('broken')
  broken(): never {
    throw new InternalServerErrorException('No more cats', { cause: new Error('The door is open') });
  }

  @Get('legal')
  legal(): never {
    throw new HttpException('Not in your country', 451);
  }

  @Get('upstream')
  @UseFilters(AllExceptionsFilter)
  upstream(): never {
    const error = Object.assign(new Error('Request failed'), {
      config: { headers: { Authorization: 'Bearer secret' } },
    });
    throw new HttpException(error, 502);
  }

  @Get('partial')
  partial(@Res() response: Response): void {
    response.write('half of');
    throw new Error('broken');
  }
}

@Module({ controllers: [CatsController] })
class CatsModule {}

@Module({
  imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 2 }])],
  controllers: [CatsController],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
class ThrottledModule {}

describeApplications((env) => {
  let client: ApiClient;
  let log: Record<string, unknown>[];
  beforeAll(async () => {
    ({ client, log } = await start(CatsModule, undefined, env));
  });

  it('an application sends the exceptions of Nest with their status and the error body that all errors share', async () => {
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

  it('an application sends the text of exceptions of Nest as the message, and their other content as data if it is JSON', async () => {
    const expected = {
      custom: { code: 'FORBIDDEN', status: 403, message: 'This is a custom message' },
      validation: { message: 'Bad Request Exception', data: { errors: [{ field: 'name' }] } },
      parts: { message: 'a is short; b is long', data: { error: { id: 7 }, status: 'locked' } },
      list: { message: 'a is short; b is long' },
      described: { message: 'No such cat' },
      secret: { code: 'INTERNAL_SERVER_ERROR', status: 500, message: 'No more cats' },
    };
    for (const [name, body] of Object.entries(expected)) {
      const response = await get(client, `/cats/exceptions/${name}`);
      expect(await response.json()).toEqual({ defined: false, code: 'BAD_REQUEST', status: 400, ...body });
    }
  });

  it('each status that Nest names has a code of its own', async () => {
    const statuses = [...Object.values(HttpStatus), 451].filter((status) => Number(status) >= 400);
    const codes = new Map<string, unknown>();
    for (const status of statuses) {
      // Not fetch, which rejects a 407.
      const request = http.get(`${client.base}/cats/statuses/${String(status)}`, { agent: false });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      const { code } = (await json(response)) as { code: string };
      expect([response.statusCode, code, codes.get(code)]).toEqual([status, code, undefined]);
      codes.set(code, status);
    }
  });

  it('an application logs the exceptions of Nest that have a status of 500 or above, and no others', async () => {
    log.splice(0);
    await get(client, '/cats/conflict');
    const response = await get(client, '/cats/broken', { 'X-Request-Id': 'broken-1' });
    expect([response.status, await response.json()]).toEqual([
      500,
      { defined: false, code: 'INTERNAL_SERVER_ERROR', status: 500, message: 'No more cats' },
    ]);
    const err = { message: 'No more cats', stack: expect.anything() as string, cause: { message: 'The door is open' } };
    expect(log).toMatchObject([{ level: 50, requestId: 'broken-1', msg: 'unexpected error', err }]);
  });

  it('an application passes the user that a guard has identified to a parameter with a decorator of its own', async () => {
    const { client: users } = await start(UsersModule, undefined, env);
    expect((await get(users, '/users/me')).status).toBe(403);
    expect(await (await get(users, '/users/me', { 'X-User': 'anna' })).json()).toEqual({ user: 'anna' });
  });

  it('an application passes parameters without a DTO to a handler beside the pipe of DTOs', async () => {
    const { client } = await start(UsersModule, undefined, env);
    const response = await get(client, '/users/7/items?page=2&sort=new');
    expect(await response.json()).toEqual({ id: '7', page: 2, sort: 'new' });
    expect((await get(client, '/users/7/items?page=two')).status).toBe(400);
  });

  it('an application responds with 500 to input of a class without a schema, and logs how to give it one', async () => {
    const { client, log } = await start(UsersModule, undefined, env);
    expect((await get(client, '/users/7/bids?sort=new')).status).toBe(500);
    const message = 'SortDto, the type of a query parameter, has no schema: make it with createZodDto';
    expect(log).toMatchObject([{ msg: 'unexpected error', err: { message } }]);
  });

  it('an application closes the connection if a handler fails in the middle of its response', async () => {
    await expect(get(client, '/cats/partial').then((response) => response.text())).rejects.toThrow();
  });

  it('an application does not send the properties of an error that a filter of its own replies with', async () => {
    const response = await get(client, '/cats/upstream');
    expect(response.status).toBe(502);
    expect(await response.text()).not.toContain('secret');
  });

  it('an application limits requests with the ThrottlerGuard', async () => {
    const { client: throttled } = await start(ThrottledModule, undefined, env);
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await get(throttled, '/cats')).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
