import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module, type INestApplication } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { createLogger, loadApiConfig } from '@app/runtime';
import { ApiAdapter } from '../../apps/api/src/http/api.adapter.js';
import { ErrorFilter } from '../../apps/api/src/http/error.filter.js';
import { ApiClient } from './api-client.js';
import { freshEnvironment } from './environment.js';

const running: INestApplication[] = [];

/** Starts a Nest application on the API's adapter, with its error filter. `log` has the lines of the filter. */
export async function start(
  module: object,
  configure: (app: INestApplication) => unknown = () => undefined,
  env = {},
): Promise<{ client: ApiClient; log: Record<string, unknown>[] }> {
  const config = loadApiConfig(freshEnvironment(env));
  const log: Record<string, unknown>[] = [];
  const write = (line: string): number => log.push(JSON.parse(line) as Record<string, unknown>);
  const errors = new ErrorFilter(await createLogger('test', 'info', { write }), () => '');
  @Module({ imports: [module as never], providers: [{ provide: APP_FILTER, useValue: errors }] })
  class TestModule {}
  const adapter = new ApiAdapter(config, { errors, observers: [] });
  const app = await NestFactory.create(TestModule, adapter, { bodyParser: false, logger: false });
  running.push(app);
  await configure(app);
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return { client: new ApiClient(`http://127.0.0.1:${String(port)}`), log };
}

/** Declares tests that run with the fast lane and without it. Closes the applications that they have started. */
export function describeApplications(declare: (env: { FAST_LANE: string }) => void): void {
  describe.each(['on', 'off'])('A Nest application that uses ApiAdapter (fast lane %s)', (lane) => {
    declare({ FAST_LANE: lane });
  });
  afterAll(() => Promise.all(running.splice(0).map((app) => app.close())));
}

/** Sends a GET request. Does not follow redirects. */
export function get(client: ApiClient, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${client.base}${path}`, { headers, redirect: 'manual' });
}

/** Sends a body as JSON. */
export function send(client: ApiClient, method: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${client.base}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}
