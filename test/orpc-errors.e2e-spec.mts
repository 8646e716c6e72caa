import { randomUUID } from 'node:crypto';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { CLIENTS, rejectionOf, type Client, type Input } from './support/orpc-clients.mjs';
import { startService, type Service } from './support/service.js';

const input = (changes: object = {}): Input<'create'> => validInput(changes) as Input<'create'>;

describe.each(CLIENTS)('an error as %s sees it', (name, connect) => {
  const readsPlain = name.startsWith('OpenAPI');
  /** A request that cannot be parsed gets a plain response: RPCLink then takes code and status from HTTP. */
  const plain = (code: string, status: number, message: RegExp): object =>
    readsPlain
      ? { code, status, message: expect.stringMatching(message) as string, defined: false, data: undefined }
      : { code, status, defined: false, data: expect.objectContaining({ status }) as object };

  let service: Service;
  let items: Client['items'];
  beforeAll(async () => {
    service = await startService({ env: { MAX_BODY_BYTES: '4096' } });
    ({ items } = connect(service.api.base));
  });
  afterAll(() => service.stop());

  it('invalid input results in a 400 with all issues', async () => {
    expect(await rejectionOf(items.create({ name: 'ab', stock: 0 } as Input<'create'>))).toEqual({
      code: 'BAD_REQUEST',
      status: 400,
      message: 'Input validation failed',
      defined: false,
      data: { issues: expect.any(Array) as unknown[] },
    });
    const { data } = await rejectionOf(items.create(input({ name: 'ab', images: [1] })));
    expect(data).toEqual({
      issues: [
        { path: ['name'], message: 'Too short: expected at least 3 characters' },
        { path: ['images', 0], message: expect.any(String) as string },
      ],
    });
  });

  it('an unknown item results in a 404', async () => {
    expect(await rejectionOf(items.getById({ id: 'f'.repeat(24) }))).toEqual({
      code: 'NOT_FOUND',
      status: 404,
      message: 'No such item',
      defined: false,
      data: undefined,
    });
  });

  it('an unknown path results in a 404', async () => {
    const lost = connect(`${service.api.base}/nowhere`);
    expect(await rejectionOf(lost.items.getAll({}))).toMatchObject(plain('NOT_FOUND', 404, /path/));
  });

  it('a body that is too large results in a 413', async () => {
    const large = items.getAll({ search: 'x'.repeat(5000) });
    expect(await rejectionOf(large)).toMatchObject(plain('PAYLOAD_TOO_LARGE', 413, /at most 4096 bytes/));
  });

  it('a file in the input results in a 415', async () => {
    const form = items.getAll({ search: new File(['x'], 'x.txt') } as unknown as Input<'getAll'>);
    expect(await rejectionOf(form)).toMatchObject(plain('UNSUPPORTED_MEDIA_TYPE', 415, /application\/json/));
  });

  it('a key that was used with another body results in a 422', async () => {
    const keyed = connect(service.api.base, { 'Idempotency-Key': randomUUID() });
    const first = await keyed.items.create(input({ name: uniqueWord() }));
    expect(await keyed.items.create(input({ name: first.name }))).toEqual(first);
    expect(await rejectionOf(keyed.items.create(input({ name: uniqueWord() })))).toMatchObject({
      code: 'UNPROCESSABLE_CONTENT',
      status: 422,
      message: 'Idempotency-Key was used with another body',
    });
  });

  it('headers that are too large result in a 431', async () => {
    const { code, status } = await rejectionOf(
      connect(service.api.base, { 'X-Long': 'x'.repeat(20_000) }).items.getAll({}),
    );
    const expected = readsPlain ? 'REQUEST_HEADER_FIELDS_TOO_LARGE' : 'MALFORMED_ORPC_ERROR_RESPONSE';
    expect([code, status]).toEqual([expected, 431]);
  });
});

it('a job that has failed permanently is a 500 for each client', async () => {
  const service = await startService({ env: { CREATE_WAIT_MS: '60000' } });
  await service.database.connection.db?.command({ collMod: 'items', validator: { name: { $ne: 'Refused' } } });
  const refusals = CLIENTS.map(([, connect]) =>
    rejectionOf(connect(service.api.base).items.create(input({ name: 'Refused' }))),
  );
  for (const seen of await Promise.all(refusals)) {
    expect(seen).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      status: 500,
      message: 'Internal server error',
      defined: false,
      data: undefined,
    });
  }
  await service.stop();
});

describe.each(CLIENTS)('a create without a worker, as %s sees it', (_, connect) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false, env: { BACKLOG_LIMIT: '2' } });
  });
  afterAll(() => service.stop());

  it('a create without a worker gets a 504 with the id to look up, a 202 if that is preferred, then a 503', async () => {
    const { base } = service.api;
    // Each gets a 503, and queues nothing, if Redis does not respond in time.
    await eventually(async () => {
      expect(await rejectionOf(connect(base, { Prefer: 'wait=1' }).items.create(input()))).toEqual({
        code: 'GATEWAY_TIMEOUT',
        status: 504,
        message: expect.stringContaining('getById') as string,
        defined: false,
        data: { id: expect.stringMatching(/^[0-9a-f]{24}$/) as string, outcome: 'unknown' },
      });
    });
    await eventually(async () => {
      const preferred = connect(base, { Prefer: 'respond-async' }).items.create(input());
      expect(await preferred).toEqual({ id: expect.any(String) as string, status: 'queued' });
    });
    const refused = await rejectionOf(connect(base).items.create(input()));
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503, message: expect.any(String) as string });
    expect(refused['data']).toBeUndefined();
  });
});

describe('a client that is configured for GET', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ worker: false });
  });
  afterAll(() => service.stop());

  it('a client that is configured for GET is told that the method is not supported', async () => {
    const link = new RPCLink({ url: `${service.api.base}/api/orpc`, method: 'GET' });
    const { code, status } = await rejectionOf(createORPCClient<Client>(link).items.getAll({}));
    expect([code, status]).toEqual(['METHOD_NOT_SUPPORTED', 405]);
  });
});
