import { createHmac, randomUUID } from 'node:crypto';
import type { ErrorBody, Item } from '@app/contracts';
import { mongoId } from '@app/database';
import type { HttpResponse, ApiClient } from './support/api-client.js';
import { expectError as expectErrorBody } from './support/errors.js';
import { eventually } from './support/eventually.js';
import { uniqueWord, validInput } from './support/items.js';
import { createRedis, startRedis, type DatabaseServer } from './support/database-servers.js';
import { openQueue, type OpenQueue } from './support/queue.js';
import { startApi, startService, startWorker, type Service } from './support/service.js';

/** Enough for all creates whose wait is not what is tested. */
const CREATE_WAIT_MS = '60000';
/** Creates that wait for more than 500 ms are looked up every 250 ms, which makes up for a lost reply. */
const RECOVERED_WITHIN_MS = 1500;

type Headers = Record<string, string>;
type Created = HttpResponse<Item & Pick<ErrorBody, 'message' | 'data'>>;

const create = (api: ApiClient, key: string, input: unknown, headers: Headers = {}): Promise<Created> =>
  api.call('create', input, { 'Idempotency-Key': key, ...headers });
const statuses = (responses: HttpResponse<unknown>[]): number[] => responses.map(({ status }) => status);
const expectError = (response: HttpResponse<unknown>, status: number, code: string): void => {
  expectErrorBody(response as HttpResponse<ErrorBody>, status, code);
};
const isReplay = ({ headers }: HttpResponse<unknown>): boolean => headers.get('idempotency-replayed') === 'true';
/** Repeats a create until its response is a replay. It is none if MongoDB does not respond before the job is queued. */
const replayOf = (api: ApiClient, key: string, input: unknown): Promise<Created> =>
  eventually(async () => {
    const response = await create(api, key, input);
    expect([response.status, isReplay(response)]).toEqual([200, true]);
    return response;
  });
const ASYNC = { Prefer: 'respond-async' };

describe('an Idempotency-Key', () => {
  let service: Service;
  let other: Awaited<ReturnType<typeof startApi>>;
  let api: ApiClient;
  let jobs: OpenQueue;
  beforeAll(async () => {
    service = await startService({ env: { CREATE_WAIT_MS } });
    api = service.api;
    other = await startApi(service.env);
    jobs = openQueue(service.env);
  });
  afterAll(async () => {
    await other.stop();
    await service.stop();
    await jobs.close();
  });

  /** Waits until the job of a create has left the queue, which may be after the response. */
  const expectRemoved = (id: string): Promise<void> =>
    eventually(async () => {
      expect(await jobs.queue.getJobState(id)).toBe('unknown');
    });
  const countOf = (name: string): Promise<number> => service.database.models.items.countDocuments({ name });

  describe('must consist of 1 to 255 visible ASCII characters', () => {
    it.each([
      ['1 character', '~'],
      ['255 characters', `!${'k'.repeat(254)}`],
      ['separators', 'a|b:c,"d\\e"/%00'],
    ])('an Idempotency-Key of 1 to 255 visible ASCII characters is accepted: %s', async (_what, key) => {
      const responses = [await create(api, key, validInput()), await create(api, key, validInput())];
      expect(statuses(responses)).toEqual([200, 200]);
      expect(responses[1]?.body.id).toBe(responses[0]?.body.id);
    });

    it.each([
      ['256 characters', 'k'.repeat(256)],
      ['none', ''],
      ['a space', 'a b'],
      ['non-ASCII', 'clé'],
    ])(
      'an Idempotency-Key that is not 1 to 255 visible ASCII characters is rejected with 400: %s',
      async (_what, key) => {
        const name = uniqueWord();
        expectError(await create(api, key, validInput({ name })), 400, 'BAD_REQUEST');
        expect(await countOf(name)).toBe(0);
      },
    );
  });

  it('an Idempotency-Key gets a 400 if the header is sent twice', async () => {
    const headers = new Headers({ 'Content-Type': 'application/json' });
    for (const key of ['a', 'b']) headers.append('Idempotency-Key', key);
    const init = { method: 'POST', headers, body: JSON.stringify(validInput()) };
    expectError(await api.request('/api/orpc/items/create', init), 400, 'BAD_REQUEST');
  });

  describe('with the same body', () => {
    it('an Idempotency-Key with the same body returns the item as it is stored now, on every instance', async () => {
      const [key, input] = [randomUUID(), validInput({ name: uniqueWord() })];
      const first = await create(api, key, input);
      expect([first.status, isReplay(first)]).toEqual([200, false]);
      const { id, publicId, slug, createdAt } = first.body;
      const _id = mongoId(id);
      await service.database.models.items.updateOne({ _id }, { status: 'sold', price: 1, name: 'Renamed since' });
      for (const client of [api, other.api]) {
        const replay = await replayOf(client, key, input);
        expect(replay.body).toEqual({ ...first.body, status: 'sold', price: 1, name: 'Renamed since' });
        expect(replay.body).toMatchObject({ id, publicId, slug, createdAt });
      }
      expect(await service.database.models.items.countDocuments({ slug })).toBe(1);
    });

    it('an Idempotency-Key with the same body is recognized in the plain form and in the envelope', async () => {
      const [key, input] = [randomUUID(), validInput()];
      const { body } = await create(api, key, input);
      const enveloped: HttpResponse<unknown> = await replayOf(api, key, { json: input });
      expect(enveloped.body).toEqual({ json: body });
      expect((await create(api, key, { json: input, meta: [] })).status).toBe(200);
    });

    it.each<[string, (input: Record<string, unknown>) => unknown]>([
      ['another order of the keys', (input) => Object.fromEntries(Object.entries(input).reverse())],
      ['an unknown key', (input) => ({ ...input, whatever: 1 })],
      ['an undefined field', (input) => ({ ...input, photos: undefined })],
    ])('an Idempotency-Key with the same body is recognized despite %s', async (_what, change) => {
      const [key, input] = [randomUUID(), validInput()];
      const { body } = await create(api, key, input);
      expect((await replayOf(api, key, change(input))).body).toEqual(body);
    });

    it('an Idempotency-Key with the same body creates one item from a hundred copies at once, and returns it to all of them', async () => {
      const [key, input] = [randomUUID(), validInput({ name: uniqueWord() })];
      const responses = await Promise.all(
        Array.from({ length: 100 }, (_, index) => create(index % 2 === 0 ? api : other.api, key, input)),
      );
      expect(new Set(statuses(responses))).toEqual(new Set([200]));
      expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      expect(await countOf(String(input['name']))).toBe(1);
    });

    it('the ids of the item and its job are derived from a hash of the Idempotency-Key and the secret of the database', async () => {
      await jobs.queue.pause();
      const { body } = await create(api, 'the-one-key', validInput(), ASYNC);
      const { value } = await service.database.models.secrets.findOne().orFail().lean();
      const hash = createHmac('sha256', value)
        .update(JSON.stringify(['v2', 'anonymous', 'the-one-key']))
        .digest('hex');
      expect(body.id).toBe(hash.slice(0, 24));
      expect((await jobs.queue.getJob(body.id))?.data).toMatchObject({ id: body.id });
      await jobs.queue.resume();
    });

    it('an Idempotency-Key is not confused with a key that differs by a separator', async () => {
      const keys = ['a', 'a|', '|a', 'a:', ':a', 'a"', '"a"', '["a"]', 'A', 'a\\'];
      const responses = await Promise.all(keys.map((key) => create(api, `sep-${key}`, validInput())));
      expect(new Set(statuses(responses))).toEqual(new Set([200]));
      expect(new Set(responses.map(({ body }) => body.id)).size).toBe(keys.length);
    });
  });

  describe('with another body', () => {
    it('an Idempotency-Key with another body gets a 422 and leaves the item unchanged', async () => {
      const [key, name] = [randomUUID(), uniqueWord()];
      const { body } = await create(api, key, validInput());
      for (const headers of [{}, ASYNC]) {
        expectError(await create(other.api, key, validInput({ name }), headers), 422, 'UNPROCESSABLE_CONTENT');
      }
      expect(await countOf(name)).toBe(0);
      expect((await create(api, key, validInput())).body).toEqual(body);
    });

    it('an Idempotency-Key with another body gets a 422 even after the job has left the queue', async () => {
      const key = randomUUID();
      const { body } = await create(api, key, validInput());
      await expectRemoved(body.id);
      expectError(await create(api, key, validInput({ price: 2 })), 422, 'UNPROCESSABLE_CONTENT');
      await replayOf(api, key, validInput());
    });

    it.each([1, 2, 3])(
      'an Idempotency-Key has one winner and one item when fifty requests of each of two bodies race: %i',
      async () => {
        const key = randomUUID();
        const inputs = [validInput({ name: uniqueWord() }), validInput({ name: uniqueWord() })] as const;
        const send = async (index: number): Promise<Created & { which: number }> => {
          const which = index % 2;
          const client = Math.floor(index / 2) % 2 === 0 ? api : other.api;
          const headers = Math.floor(index / 4) % 2 === 0 ? {} : ASYNC;
          for (;;) {
            const response = await create(client, key, inputs[which as 0 | 1], headers);
            // The outcome is unknown if Redis has not responded in time.
            if (response.status !== 504) return { which, ...response };
          }
        };
        const responses = await Promise.all(Array.from({ length: 100 }, (_, index) => send(index)));
        const { name } = await eventually(async () => {
          const names = inputs.map((input) => String(input['name']));
          const stored = await service.database.models.items.findOne({ name: { $in: names } }).lean();
          if (stored === null) throw new Error('not stored yet');
          return stored;
        });
        const winner = inputs.findIndex((input) => input['name'] === name);
        const lost = responses.filter(({ which }) => which !== winner);
        expect(new Set(statuses(lost))).toEqual(new Set([422]));
        const won = responses.filter(({ which }) => which === winner);
        expect(new Set(statuses(won).filter((status) => status !== 202))).toEqual(new Set([200]));
        const items = won.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body));
        expect(new Set(items).size).toBe(1);
        const { id } = JSON.parse(items[0] ?? '{}') as Item;
        const queued = won.filter(({ status }) => status === 202).map(({ body }) => body);
        expect(queued).toEqual(queued.map(() => ({ id, status: 'queued' })));
        expect((await countOf(String(inputs[0]['name']))) + (await countOf(String(inputs[1]['name'])))).toBe(1);
      },
    );
  });

  it('an Idempotency-Key returns its item after the slug of the category was renamed', async () => {
    const categories = service.database.connection.collection<{ _id: number; slug: string; title: string }>(
      'categories',
    );
    await categories.insertOne({ _id: 4711, slug: 'renamed-since', title: 'Bikes' });
    const [key, input] = [randomUUID(), validInput({ categoryId: 'renamed-since' })];
    const { body } = await create(api, key, input);
    await categories.updateOne({ _id: 4711 }, { $set: { slug: 'renamed' } });
    // The other API has not read the former slug.
    expect((await replayOf(other.api, key, input)).body).toEqual(body);
    expectError(await create(other.api, key, { ...input, price: 9 }), 422, 'UNPROCESSABLE_CONTENT');
    expectError(await create(other.api, randomUUID(), input), 400, 'BAD_REQUEST');
    await categories.deleteOne({ _id: 4711 });
  });

  it('an Idempotency-Key gets a 504 while only a newer release can tell whether the body is the same', async () => {
    const [key, input] = [randomUUID(), validInput()];
    const { body } = await create(api, key, input);
    const { items } = service.database.models;
    const stored = await items.findById(mongoId(body.id)).lean();
    const known = stored?.requestHash ?? '';
    const unknown = `1000:${known.replace(/^.*:/, '')}`;
    await items.updateOne({ _id: mongoId(body.id) }, { requestHash: unknown });
    for (const repeated of [input, validInput({ price: 2 })]) {
      expectError(await create(api, key, repeated, { Prefer: 'wait=1' }), 504, 'GATEWAY_TIMEOUT');
    }
    await items.updateOne({ _id: mongoId(body.id) }, { requestHash: known.replace(/^(?!\d+:)/, '1:') });
    expect((await create(api, key, input)).body).toEqual(body);
    expectError(await create(api, key, validInput({ price: 2 })), 422, 'UNPROCESSABLE_CONTENT');
  });

  it('an Idempotency-Key is not bound to a body by a 4xx', async () => {
    const key = randomUUID();
    expect((await create(api, key, validInput({ price: -1 }))).status).toBe(400);
    expect((await api.post('/api/orpc/items/create', '{', { 'Idempotency-Key': key })).status).toBe(415);
    expect((await create(api, key, validInput({ price: 1 }))).status).toBe(200);
    expect((await create(api, key, validInput({ price: 2 }))).status).toBe(422);
    expect((await create(api, key, validInput({ price: 1 }))).status).toBe(200);
  });

  it.each([
    ['the same', validInput()],
    ['another', validInput({ name: 'Another bike' })],
  ])('an Idempotency-Key can be used again after the item is deleted: %s body', async (_which, next) => {
    const key = randomUUID();
    const { body: first } = await create(api, key, validInput());
    await expectRemoved(first.id);
    await service.database.models.items.deleteOne({ _id: mongoId(first.id) });
    const responses = await Promise.all([api, other.api, api].map((client) => create(client, key, next)));
    expect(statuses(responses)).toEqual([200, 200, 200]);
    for (const { body } of responses) expect(body).toEqual(responses[0]?.body);
    expect(responses[0]?.body).toMatchObject({ id: first.id, name: next['name'] });
    expect(responses[0]?.body.publicId).toBeGreaterThan(first.publicId);
  });

  describe('whose job failed', () => {
    const validate = (validator: object): Promise<unknown> =>
      Promise.resolve(service.database.connection.db?.command({ collMod: 'items', validator }));
    beforeEach(() => validate({ name: { $ne: 'Refused' } }));
    afterEach(() => validate({}));

    it('an Idempotency-Key whose job failed gets a 500, and the next retry runs the job again', async () => {
      const key = randomUUID();
      const input = validInput({ name: 'Refused' });
      const failing = await create(api, key, input);
      expectError(failing, 500, 'INTERNAL_SERVER_ERROR');
      expect(await jobs.queue.getFailedCount()).toBe(1);
      expectError(await create(other.api, key, validInput()), 422, 'UNPROCESSABLE_CONTENT');
      expectError(await create(api, key, input), 500, 'INTERNAL_SERVER_ERROR');
      await validate({});
      const responses = await Promise.all([api, other.api].map((client) => create(client, key, input)));
      expect(statuses(responses)).toEqual([200, 200]);
      expect(responses[1]?.body).toEqual(responses[0]?.body);
      expect(await countOf('Refused')).toBe(1);
      expect(await jobs.queue.getFailedCount()).toBe(0);
    });

    it('an Idempotency-Key whose job failed gets a 500 for the queued body and a 422 for the other one when they race', async () => {
      const inputs = [validInput({ name: 'Refused', price: 1 }), validInput({ name: 'Refused', price: 2 })];
      // Both get a 500 if Redis does not respond within the limit of the look-up after the wait.
      await eventually(async () => {
        const key = randomUUID();
        const responses = await Promise.all(
          inputs.map((input, index) => create(index === 0 ? api : other.api, key, input)),
        );
        expect(statuses(responses).sort()).toEqual([422, 500]);
      }, 60_000);
    });
  });
});

describe('an Idempotency-Key of a pending create', () => {
  let redis: DatabaseServer;
  let service: Service;
  let other: Awaited<ReturnType<typeof startApi>>;
  let jobs: OpenQueue;
  let api: ApiClient;
  beforeEach(async () => {
    redis = await createRedis();
    await startRedis(redis);
    service = await startService({ worker: false, env: { REDIS_URL: redis.url, CREATE_WAIT_MS } });
    other = await startApi(service.env);
    api = service.api;
    jobs = openQueue(service.env);
  });
  afterEach(async () => {
    await other.stop();
    await service.stop();
    await jobs.close();
    await redis.remove();
  });

  const waiting = async (count: number): Promise<void> =>
    eventually(async () => {
      expect(await jobs.queue.getWaitingCount()).toBe(count);
    });

  it('the Idempotency-Key of a pending create is shared by requests with the same body and rejected with another body, waiting or not', async () => {
    const [key, input] = [randomUUID(), validInput()];
    const first = create(api, key, input);
    await waiting(1);
    for (const client of [api, other.api]) {
      for (const headers of [{}, ASYNC, { Prefer: 'wait=1' }]) {
        expectError(await create(client, key, validInput({ price: 3 }), headers), 422, 'UNPROCESSABLE_CONTENT');
      }
      expect((await create(client, key, input, ASYNC)).status).toBe(202);
    }
    const joined = create(other.api, key, input);
    await eventually(async () => {
      expect((await create(other.api, key, input, ASYNC)).status).toBe(202);
    });
    await waiting(1);
    const worker = await startWorker(service.env);
    const responses = await Promise.all([first, joined]);
    expect(statuses(responses)).toEqual([200, 200]);
    expect(responses[1].body).toEqual(responses[0].body);
    expect(await service.database.models.items.countDocuments()).toBe(1);
    await worker.stop();
  });

  it('a race for the Idempotency-Key of a pending create results in a 422 for the loser after the wait, even if no job was done', async () => {
    let rounds = 0;
    while (rounds < 5) {
      const key = randomUUID();
      const startedAt = performance.now();
      const responses = await Promise.all(
        [api, other.api].map((client, index) =>
          client.callOnce('create', validInput({ price: index }), { 'Idempotency-Key': key, Prefer: 'wait=0' }),
        ),
      );
      const isLate = performance.now() - startedAt > 100;
      const received = statuses(responses).sort();
      await jobs.queue.drain();
      // On a busy machine, queueing and the look-up after the wait may exceed their limits of 200 and 100 ms.
      if (isLate && received.every((status) => [503, 504].includes(status))) continue;
      expect(received).toEqual([422, 504]);
      rounds++;
    }
  });

  it('a pending create with an Idempotency-Key gets a 504 that says when to retry; without a key the 504 says which id to look up', async () => {
    const keyed = await create(api, randomUUID(), validInput(), { Prefer: 'wait=1' });
    expectError(keyed, 504, 'GATEWAY_TIMEOUT');
    expect(keyed.headers.get('retry-after')).toMatch(/^\d+$/);
    const unkeyed: HttpResponse<ErrorBody> = await api.call('create', validInput(), { Prefer: 'wait=1' });
    expectError(unkeyed, 504, 'GATEWAY_TIMEOUT');
    expect(unkeyed.headers.get('retry-after')).toBeNull();
    const { id } = unkeyed.body.data as { id: string };
    expect(unkeyed.body.message).toContain(id);
    for (const { body } of [keyed, unkeyed]) {
      const { id, outcome } = body.data as { id: string; outcome: string };
      expect(outcome).toBe('unknown');
      expect(await jobs.queue.getJobState(id)).toBe('waiting');
    }
  });

  it('the Idempotency-Key of a pending create is resolved by a retry after a 504', async () => {
    const [key, input] = [randomUUID(), validInput()];
    expect((await create(api, key, input, { Prefer: 'wait=1' })).status).toBe(504);
    const worker = await startWorker(service.env);
    const { status, body } = await create(other.api, key, input);
    expect(status).toBe(200);
    expect(await service.database.models.items.countDocuments()).toBe(1);
    expect((await create(api, key, input)).body).toEqual(body);
    await worker.stop();
  });

  it.each([1, 2])(
    'the Idempotency-Key of a pending create survives FLUSHALL while requests wait: the job is added again (%i)',
    async () => {
      const [key, input] = [randomUUID(), validInput()];
      const creating = [create(api, key, input)];
      await waiting(1);
      creating.push(create(other.api, key, input), api.call('create', input));
      await waiting(2);
      await jobs.redis.flushall();
      const worker = await startWorker(service.env);
      const responses = await Promise.all(creating);
      expect(statuses(responses)).toEqual([200, 200, 200]);
      expect(responses[1]?.body).toEqual(responses[0]?.body);
      expect(await service.database.models.items.countDocuments()).toBe(2);
      await worker.stop();
    },
  );

  it('the Idempotency-Key of a pending create survives FLUSHALL even if only an instance that has joined still waits', async () => {
    const [key, input] = [randomUUID(), validInput()];
    expect((await create(api, key, input, ASYNC)).status).toBe(202);
    const joined = create(other.api, key, input);
    await eventually(async () => {
      // The joining instance has seen the job itself, so it does not depend on the first instance.
      expect((await create(other.api, key, input, ASYNC)).status).toBe(202);
    });
    await jobs.redis.flushall();
    const worker = await startWorker(service.env);
    expect((await joined).status).toBe(200);
    await worker.stop();
  });

  it('a pending create with an Idempotency-Key gets a response soon after a reply is lost', async () => {
    const worker = await startWorker(service.env);
    await create(api, randomUUID(), validInput());
    await jobs.redis.call('ACL', 'SETUSER', 'default', 'resetchannels');
    await eventually(async () => {
      const since = Date.now();
      expect((await create(api, randomUUID(), validInput())).status).toBe(200);
      expect(Date.now() - since).toBeLessThan(RECOVERED_WITHIN_MS);
    });
    await worker.stop();
  });

  it('an Idempotency-Key is not bound to a body by a 503', async () => {
    const [key, name] = [randomUUID(), uniqueWord()];
    await redis.kill();
    await eventually(async () => {
      const refused = await api.callOnce('create', validInput({ name }), { 'Idempotency-Key': key });
      expectError(refused, 503, 'SERVICE_UNAVAILABLE');
    });
    redis.start();
    const worker = await startWorker(service.env);
    await eventually(async () => {
      expect((await create(api, key, validInput({ price: 9 }))).status).toBe(200);
    });
    expect(await service.database.models.items.countDocuments({ name })).toBe(0);
    await worker.stop();
  });

  it('an Idempotency-Key can be used after Redis has queued its job only in part', async () => {
    const [key, input] = [randomUUID(), validInput()];
    await jobs.redis.call('ACL', 'SETUSER', 'default', '-xadd');
    // The last two wait as long as this for Redis to confirm the job.
    const impatient = await startApi({ ...service.env, CREATE_WAIT_MS: '3000' });
    for (const headers of [{ Prefer: 'wait=1' }, { Prefer: 'respond-async, wait=1' }, ASYNC]) {
      expectError(await create(impatient.api, key, input, headers), 504, 'GATEWAY_TIMEOUT');
    }
    await impatient.stop();
    await jobs.redis.call('ACL', 'SETUSER', 'default', '+xadd');
    const worker = await startWorker(service.env);
    const responses = await Promise.all([api, other.api].map((client) => create(client, key, input)));
    expect(statuses(responses)).toEqual([200, 200]);
    expect(await service.database.models.items.countDocuments()).toBe(1);
    await worker.stop();
  });

  it('an Idempotency-Key can be used after the lists of the queue were deleted', async () => {
    const [key, input] = [randomUUID(), validInput()];
    expect((await create(api, key, input, ASYNC)).status).toBe(202);
    await jobs.redis.del(jobs.queue.toKey('wait'));
    const worker = await startWorker(service.env);
    expect((await create(other.api, key, input)).status).toBe(200);
    await worker.stop();
  });

  it('an Idempotency-Key can be used again after the item is deleted, even if another producer keeps the job', async () => {
    const [key, input] = [randomUUID(), validInput()];
    const { body: queued } = await create(api, key, input, ASYNC);
    const job = await jobs.queue.getJob(queued.id);
    await job?.remove();
    await jobs.queue.add('create', job?.data, { jobId: queued.id });
    const worker = await startWorker(service.env);
    await eventually(async () => {
      expect(await jobs.queue.getJobState(queued.id)).toBe('completed');
    });
    expect((await create(api, key, input)).status).toBe(200);
    await service.database.models.items.deleteOne({ _id: mongoId(queued.id) });
    expect((await create(api, key, input)).body.id).toBe(queued.id);
    await worker.stop();
  });

  it('a create that Redis has queued only in part is queued again while its client waits', async () => {
    // Without LPOS, the API cannot find out that the job is in no list either, and leaves it.
    await jobs.redis.call('ACL', 'SETUSER', 'default', '-xadd', '-lpos');
    const creating = create(api, randomUUID(), validInput());
    await eventually(async () => {
      expect(await jobs.redis.keys(jobs.queue.toKey('????????????????????????'))).toHaveLength(1);
    });
    await jobs.redis.call('ACL', 'SETUSER', 'default', '+xadd', '+lpos');
    const worker = await startWorker(service.env);
    expect((await creating).status).toBe(200);
    await worker.stop();
  });
});
