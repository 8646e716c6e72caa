import {
  Catch,
  Controller,
  HttpException,
  Injectable,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { Item } from '@app/contracts';
import { createLogger, loadApiConfig } from '@app/runtime';
import type { Request, Response } from 'express';
import { map, type Observable } from 'rxjs';
import { createApp } from '../apps/api/src/app.js';
import { ItemsController } from '../apps/api/src/items/items.controller.js';
import { freshEnvironment } from './support/environment.js';
import { validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

/** As in the documentation (https://docs.nestjs.com/guards#authorization-guard). */
@Injectable()
class OpeningHoursGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<Request>().headers['x-closed'] === undefined;
  }
}

/** As in the documentation (https://docs.nestjs.com/interceptors#response-mapping). */
@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const isWanted = context.switchToHttp().getRequest<Request>().get('X-Transform') !== undefined;
    return isWanted ? next.handle().pipe(map((data: unknown) => ({ data }))) : next.handle();
  }
}

/** As in the documentation (https://docs.nestjs.com/exception-filters#exception-filters-1). */
@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter<HttpException> {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const status = exception.getStatus();
    host.switchToHttp().getResponse<Response>().status(status).json({ caught: status, message: exception.message });
  }
}

UseGuards(OpeningHoursGuard)(ItemsController);
UseInterceptors(TransformInterceptor)(ItemsController);
UseFilters(HttpExceptionFilter)(ItemsController);

describe.each(['on', 'off'])('the three operations (fast lane %s)', (lane) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: { FAST_LANE: lane } });
  });
  afterAll(() => service.stop());

  it('requests are refused with 403 if a guard returns false', async () => {
    const before = await service.database.models.items.countDocuments();
    const headers = { 'X-Closed': '1' };
    for (const [operation, input] of [
      ['create', validInput()],
      ['getById', { id: '0'.repeat(24) }],
      ['getAll', {}],
    ] as const) {
      const { status, body } = await service.api.call(operation, input, headers);
      expect([operation, status, body]).toEqual([operation, 403, { caught: 403, message: 'Forbidden resource' }]);
    }
    expect(await service.database.models.items.countDocuments()).toBe(before);
  });

  it('results of operations pass through interceptors', async () => {
    const headers = { 'X-Transform': '1' };
    const { status, body } = await service.api.call('create', validInput(), headers);
    const { data: item } = body as { data: Item };
    expect([status, item.name]).toEqual([200, 'Red city bike']);
    expect((await service.api.call('getById', { id: item.id }, headers)).body).toEqual({ data: item });
    expect((await service.api.call('getAll', {}, headers)).body).toEqual({ data: [item] });
    expect((await service.api.call('getAll', { json: {} }, headers)).body).toEqual({ json: { data: [item] } });
  });

  it('errors of operations pass through filters', async () => {
    const { status, body } = await service.api.call('getById', { id: '0'.repeat(24) });
    expect([status, body]).toEqual([404, { caught: 404, message: 'No such item' }]);
    const invalid = await service.api.call('getAll', { page: 0 });
    expect(invalid).toMatchObject({ status: 400, body: { caught: 400, message: 'Input validation failed' } });
    const invalidKey = await service.api.call('create', validInput(), { 'Idempotency-Key': 'not visible' });
    expect(invalidKey).toMatchObject({ status: 400, body: { caught: 400 } });
  });
});

describe('createApp', () => {
  it('createApp throws if the operations are at other paths, where authentication and limits would not find them', async () => {
    Controller('v2/items')(ItemsController);
    const config = loadApiConfig(freshEnvironment({ PORT: '0', ADMIN_PORT: '0' }));
    await expect(createApp(config, await createLogger('test', 'silent'))).rejects.toThrow('/api/orpc/items/getAll');
  });
});
