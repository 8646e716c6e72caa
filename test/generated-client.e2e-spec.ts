import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Item } from '@app/contracts';
import { createApiKey } from './support/api-keys.js';
import { eventually } from './support/eventually.js';
import { validInput } from './support/items.js';
import { startService, type Service } from './support/service.js';
import { AUDIENCE, claims, ISSUER, signWithSecret } from './support/token-issuer.js';

const SECRET = 'a secret of at least 256 bits for these tests';
const run = promisify(execFile);
const MODULES = join(__dirname, '..', 'node_modules');
const TSC = join(MODULES, 'typescript', 'bin', 'tsc');
const GENERATOR = join(MODULES, 'openapi-typescript', 'bin', 'cli.js');

/** A user's program. `@ts-expect-error` marks what must not compile; TypeScript rejects a mark without an error too. */
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { components, paths } from './item-listing.js';

const headers = { Authorization: \`Bearer \${process.env.TOKEN ?? ''}\` };
const { POST } = createClient<paths>({ baseUrl: process.env.BASE ?? '', headers });
const body: components['schemas']['CreateItemInput'] = ${JSON.stringify(validInput())};
const header = { 'Idempotency-Key': '4d8f0e3c-0001-4b6e-9d53-2f6d1c6f3a51' };
const created = await POST('/api/orpc/items/create', { params: { header }, body });
if (created.error !== undefined) throw new Error(created.error.message);
const item = 'publicId' in created.data ? created.data : undefined;
const byId = await POST('/api/orpc/items/getById', { body: { id: created.data.id } });
const list = await POST('/api/orpc/items/getAll', { body: { pageSize: 1, status: 'all' } });
const refused = await POST('/api/orpc/items/create', { body: { ...body, name: 'ab', stock: 0 } });
const missing = await POST('/api/orpc/items/getById', { body: { id: '000000000000000000000000' } });
const paths = refused.error?.code === 'BAD_REQUEST' ? refused.error.data?.issues.map(({ path }) => path) : undefined;
console.log(JSON.stringify({ item, byId: byId.data, list: list.data, paths, missing: missing.error?.code }));

export const title: string | null | undefined = byId.data?.brandTitle;
// @ts-expect-error: it may be null
export const text: string | undefined = byId.data?.brandTitle;
// @ts-expect-error: a categoryId is sent as a string
void ((): unknown => POST('/api/orpc/items/getAll', { body: { categoryId: 7 } }));
// @ts-expect-error: a create needs more than a name
void ((): unknown => POST('/api/orpc/items/create', { body: { name: 'Red city bike' } }));
// @ts-expect-error: no such operation
void ((): unknown => POST('/api/orpc/items/update', { body: {} }));
`;

const CONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2022', 'DOM', 'DOM.Iterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  },
};

describe('a client generated from the OpenAPI document', () => {
  let service: Service;
  let folder: string;
  beforeAll(async () => {
    [service, folder] = await Promise.all([
      startService({
        env: { AUTH_API_KEYS: 'on', AUTH_JWT_SECRET: SECRET, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE },
      }),
      mkdtemp(join(tmpdir(), 'generated-client-')),
    ]);
    await symlink(MODULES, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG));
    await writeFile(join(folder, 'program.ts'), PROGRAM);
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('a client generated from the OpenAPI document compiles in strict TypeScript and performs every operation', async () => {
    const document = `${service.api.base}/openapi.json`;
    await run(process.execPath, [GENERATOR, document, '--output', join(folder, 'item-listing.ts')]);
    const compilerOutput = await run(process.execPath, [TSC, '--project', folder]).then(
      () => '',
      (error: unknown) => (error as { stdout: string }).stdout,
    );
    expect(compilerOutput).toBe('');

    const key = await createApiKey(service.database, 'acme');
    const token = signWithSecret(SECRET, claims({ sub: 'alice' }));
    for (const [TOKEN, sellerId] of [
      [key, 'key:acme'],
      [token, 'jwt:alice'],
    ]) {
      const env = { PATH: process.env['PATH'], BASE: service.api.base, TOKEN };
      // The program gives up if the service has too little time.
      const { stdout } = await eventually(() => run(process.execPath, [join(folder, 'program.js')], { env }));
      const { item, ...rest } = JSON.parse(stdout) as { item: Item };
      expect(item).toMatchObject({ name: validInput()['name'], status: 'available', sellerId });
      const paths = [['name'], ['stock']];
      expect(rest).toEqual({ byId: item, list: [item], paths, missing: 'NOT_FOUND' });
    }
  }, 180_000);
});
