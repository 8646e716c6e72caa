import { createApiKey } from './support/api-keys.js';
import { validInput } from './support/items.js';
import { CLIENTS, rejectionOf, type Input } from './support/orpc-clients.mjs';
import { startService, type Service } from './support/service.js';
import { AUDIENCE, bearer, claims, ISSUER, signWithSecret } from './support/token-issuer.js';

const SECRET = 'a secret of at least 256 bits for these tests';

describe('an unmodified oRPC client, while authentication is on,', () => {
  let service: Service;
  let key: string;
  beforeAll(async () => {
    service = await startService({
      env: {
        AUTH_API_KEYS: 'on',
        AUTH_READS: 'required',
        AUTH_JWT_SECRET: SECRET,
        AUTH_ISSUER: ISSUER,
        AUTH_AUDIENCE: AUDIENCE,
      },
    });
    key = await createApiKey(service.database, 'acme');
  });
  afterAll(() => service.stop());

  it.each(CLIENTS)(
    '%s performs every operation with an API key, and sees why it fails without one',
    async (_, connect) => {
      const { items } = connect(service.api.base, bearer(key));
      const created = await items.create(validInput() as Input<'create'>);
      expect(created.sellerId).toBe('key:acme');
      expect(await items.getById({ id: created.id })).toEqual(created);
      expect(await items.getAll({ pageSize: 1 })).toEqual([created]);
      const anonymous = connect(service.api.base).items;
      for (const call of [anonymous.create(validInput() as Input<'create'>), anonymous.getById({ id: created.id })])
        expect(await rejectionOf(call)).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    },
  );

  it.each(CLIENTS)('%s performs every operation with a JSON Web Token, and sees why it fails', async (_, connect) => {
    const { items } = connect(service.api.base, bearer(signWithSecret(SECRET)));
    const created = await items.create(validInput() as Input<'create'>);
    expect(created.sellerId).toBe('jwt:alice');
    expect(await items.getById({ id: created.id })).toEqual(created);
    expect(await items.getAll({ pageSize: 1 })).toEqual([created]);
    expect(await items.getAll({ userId: 'alice' })).toEqual([]);
    expect(await rejectionOf(items.getAll({ userId: 'bob' }))).toMatchObject({ code: 'FORBIDDEN', status: 403 });
    const expired = connect(service.api.base, bearer(signWithSecret(SECRET, claims({ exp: 1 })))).items;
    expect(await rejectionOf(expired.getAll({}))).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
  });
});
