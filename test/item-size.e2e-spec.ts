import type { ErrorBody, Item } from '@app/contracts';
import type { HttpResponse } from './support/api-client.js';
import { expectError as expectErrorBody } from './support/errors.js';
import { uniqueWord, validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';

type Created = Item & Pick<ErrorBody, 'message' | 'data'>;

const DEFAULT_BYTES = 65_536;

const expectError = (response: HttpResponse<unknown>, status: number, code: string): void => {
  expectErrorBody(response as HttpResponse<ErrorBody>, status, code);
};
const bytesOf = (input: object): number => Buffer.byteLength(JSON.stringify(input));
/** Returns a valid input of this many bytes, most of them in its description. */
const inputOf = (bytes: number, character = 'x', more: object = {}): Record<string, unknown> => {
  const room = bytes - bytesOf(validInput({ description: '', ...more }));
  const each = Buffer.byteLength(character);
  const description = character.repeat(Math.floor(room / each)) + 'x'.repeat(room % each);
  return validInput({ description, ...more });
};

describe.each([
  ['by default', {}, DEFAULT_BYTES],
  ['as MAX_ITEM_BYTES says', { MAX_ITEM_BYTES: '2000' }, 2000],
])('the size limit of an item %s', (_which, env, limit) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env });
  });
  afterAll(() => service.stop());

  const create = (input: unknown): Promise<HttpResponse<Created>> => service.api.call('create', input);

  it.each(['x', 'é', '山', '🚲'])(
    'the size limit of an item counts the bytes of the input as JSON, here of %s',
    async (character) => {
      const input = inputOf(limit, character);
      expect(bytesOf(input)).toBe(limit);
      const { status, body } = await create(input);
      expect([status, body.description === input['description']]).toEqual([200, true]);
      const name = uniqueWord();
      const refused = await create(inputOf(limit + 1, character, { name }));
      expectError(refused, 413, 'PAYLOAD_TOO_LARGE');
      expect(refused.body.message).toBe(`Item too large: at most ${String(limit)} bytes as JSON`);
      expect(await service.database.models.items.countDocuments({ name })).toBe(0);
    },
  );

  it('the size limit of an item applies whichever field is large', async () => {
    for (const large of [{ photos: [{ a: 'x'.repeat(limit) }] }, { images: ['x'.repeat(limit)] }]) {
      expectError(await create(validInput(large)), 413, 'PAYLOAD_TOO_LARGE');
    }
  });

  it('the size limit of an item ignores what is not stored: unknown fields, spaces and escapes', async () => {
    const { name, ...rest } = inputOf(limit);
    const body = JSON.stringify({ ...rest, unknown: 'x'.repeat(limit) }).replace(
      '{',
      `{${' '.repeat(limit)}"name":"\\u${String(name).charCodeAt(0).toString(16).padStart(4, '0')}${String(name).slice(1)}",`,
    );
    const headers = { 'Content-Type': 'application/json' };
    expect((await service.api.post('/api/orpc/items/create', body, headers)).status).toBe(200);
  });

  it('the size limit of an item is checked only if the input is valid otherwise', async () => {
    const refused = await create({ ...inputOf(limit + 1), price: -1 });
    expectError(refused, 400, 'BAD_REQUEST');
  });
});
