import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ItemSchema } from '@app/contracts';
import { runToExit } from '../support/command.js';
import { eventually } from '../support/eventually.js';
import { startService, type Service } from '../support/service.js';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const NODE_TOOL = (path: string): string => join(ROOT, 'node_modules', ...path.split('/'));

/**
 * Examples that are not run here, by {@link keyOf}: what tests them instead, and what that leaves out, or why no test
 * runs them. If you change one, check that this is still true.
 */
const ELSEWHERE = new Map([
  [
    '58f2adac export AUTH_JWKS_URL=https://login.example/jwks.json AUTH_ISSUER=https://login.example AUTH_AUDIENCE=item-listing',
    'auth-jwt.e2e-spec.ts',
  ],
  [
    'a0d11def export RATE_LIMIT_CREATE=100/60 RATE_LIMIT_GETALL=600/60 RATE_LIMIT_GETBYID=3000/60   # requests per seconds',
    'rate-limits.e2e-spec.ts',
  ],
  ['83e3afb9 RateLimit: "create";r=58;t=24, "bytes";r=9871234;t=24', 'rate-limits.e2e-spec.ts'],
  [
    '92ecc2b8 npm run --silent keys -- create --owner acme             # prints the key, once',
    'auth-api-keys.e2e-spec.ts',
  ],
  [
    '1316a94c npm start                   # installs, builds, starts MongoDB and Redis on 127.0.0.1; Ctrl-C stops everything',
    'start.e2e-spec.ts; Docker: npm run test:compose',
  ],
  [
    String.raw`7159dba8 printf '%s\n' DEMO_CATALOGUE=off PUBLIC_SITE_URL=https://shop.example > .env`,
    'not run: npm run test:compose must not use the .env of the checkout, and passes its settings in the environment',
  ],
  [
    '62c5d1fa docker compose up -d --build --scale worker=3   # no .env needed; the API is on http://127.0.0.1:3000',
    'Docker: npm run test:compose',
  ],
  [
    'b21ec5a8 docker compose run --rm -T --no-deps setup node dist/apps/cli/src/import.js - < items.ndjson',
    'import.e2e-spec.ts, without Docker',
  ],
  [
    'e1c06129 kubectl create secret generic stores --from-env-file=stores.env   # two lines: MONGODB_URI=… and REDIS_URL=…',
    'not run, because it needs a cluster: npm run test:helm only lints the chart and checks what it renders',
  ],
  [
    'be71a448 npm run import -- items.ndjson                       # or items.csv, or - for stdin',
    'import.e2e-spec.ts',
  ],
  [
    '7b5383c5 npm run --silent jobs -- list                # the newest 20, with the error of each; --page 2 for more',
    'failed-jobs.e2e-spec.ts',
  ],
  [
    '99110cbd docker compose --profile observability up -d --build --scale worker=3   # Grafana is on http://127.0.0.1:3003, Prometheus on :9090',
    'Docker: npm run test:compose, without Grafana; the queries of the dashboard: dashboard.e2e-spec.ts',
  ],
  [
    String.raw`ebd677e3 (umask 077 && docker compose exec -T mongo bash -c 'mongodump --config <(printf "uri: \"%s\"" "$(cat /run/mongodb-admin/mongodb-admin-uri)") --archive --gzip' > items.archive.new) && mv items.archive.new items.archive`,
    'backup.e2e-spec.ts, without Docker; if mongodump is not installed, a copy by the driver',
  ],
  ...[
    '4891c215 docker compose run --rm --no-deps setup node dist/apps/cli/src/keys.js list',
    '3f44d76a docker compose stop api worker',
    String.raw`a34e3ed9 docker compose exec -T mongo bash -c 'mongorestore --config <(printf "uri: \"%s\"" "$(cat /run/mongodb-admin/mongodb-admin-uri)") --archive --gzip --drop --bypassDocumentValidation' < items.archive`,
    'b4ee737e docker compose run --rm setup',
    '66b1f14b docker compose run --rm --no-deps setup node dist/apps/cli/src/keys.js revoke ID',
    '4d4e0878 docker compose up -d --scale worker=3',
  ].map((command) => [command, 'restore: backup.e2e-spec.ts, without Docker'] as const),
  [
    '806f642b docker compose build',
    'npm run test:compose, with the same release; from an earlier one: npm run test:upgrade, without Docker',
  ],
  ...['8f150917 docker compose stop', '4cb5b880 docker run --rm -i --network none \\'].map(
    (command) => [command, 'npm run test:compose, with its own project'] as const,
  ),
  [
    `8161603d docker compose exec mongo mongosh --nodb --shell --eval 'db = connect(require("fs").readFileSync("/run/mongodb-admin/mongodb-admin-uri", "utf8"))'`,
    'needs a terminal',
  ],
  [
    "595598b0 npm run certify -- --mongodb 'mongodb://HOST/EMPTY-DATABASE?replicaSet=NAME' --redis redis://HOST",
    'certify.e2e-spec.ts: what it refuses; the rest needs a staging environment',
  ],
  ['19c94947 OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 npm run start:api', 'tracing.e2e-spec.ts'],
  ...[
    "548d228b openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=Stores CA' -keyout ca.key -out ca.pem",
    '3f6b5322 install -o redis -m 400 server.pem redis.pem',
    '1fe3145e bind 127.0.0.1 STORES-ADDRESS',
    'ecb6c6fe openssl rand -base64 756 > mongodb.key',
    'eb1d888c net:',
    "95618357 mongosh 'mongodb://localhost/admin?directConnection=true&tls=true&tlsCAFile=/etc/item-listing/tls/ca.pem&tlsAllowInvalidHostnames=true'",
    "66131b2b rs.initiate({ _id: 'rs0', members: [{ _id: 0, host: 'stores.example:27017' }] });",
    "d2ace522 mongosh 'mongodb://stores.example/item-listing?authSource=admin&tls=true&tlsCAFile=/etc/item-listing/tls/ca.pem' --username admin",
    "da19ff3e db.createUser({ user: 'item-listing', pwd: 'MONGODB-PASSWORD', roles: ['readWrite'] });",
    'f76c348d umask 077',
    '03c3c320 MONGODB_URI_FILE=/etc/item-listing/tls/mongodb-setup-uri npm run setup',
    '7ecc7fab export NODE_EXTRA_CA_CERTS=/etc/item-listing/tls/ca.pem',
  ].map((first) => [first, 'secured-stores.e2e-spec.ts'] as const),
  [
    'b739cd2f redis-cli --tls --cacert /etc/item-listing/tls/ca.pem -h stores.example --user admin --askpass',
    'needs a terminal',
  ],
  ['3aedd6a5 npm ci && npm run pack:client', 'client-package.e2e-spec.ts'],
  ['ba1588c8 npm install /path/to/item-listing-client-0.1.0.tgz', 'client-package.e2e-spec.ts'],
  ["f7b2c159 import { ItemListingClient } from 'item-listing-client';", 'client-package.e2e-spec.ts'],
  ["689dbcdc import { createORPCClient } from '@orpc/client';", 'orpc-readme.e2e-spec.ts'],
  ["a9ee416f import { createORPCClient } from '@orpc/client';", 'orpc-readme.e2e-spec.ts'],
  [
    'd09ba4b5 npx openapi-typescript http://localhost:3000/openapi.json -o item-listing.d.ts',
    'below, with the program that uses it',
  ],
]);

/** Returns a digest of the whole example, and its first line for readers. */
function keyOf(code: string): string {
  const digest = createHash('sha256').update(code).digest('hex').slice(0, 8);
  return `${digest} ${code.split('\n')[0] ?? ''}`;
}

interface Example {
  document: string;
  language: string;
  code: string;
}

async function examplesIn(document: string): Promise<Example[]> {
  const text = await readFile(join(ROOT, document), 'utf8');
  // A block in a list is indented.
  const blocks = [...text.matchAll(/^( *)```(\w+)\n([^]*?)^ *```/gm)];
  return blocks.map(([, indent = '', language = '', code = '']) => {
    return { document, language, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), '') };
  });
}

const ID = '6b00f84064d797f6ac86522a';
const CURSOR = /^Next-After: ([\w-]+)$/m;

/** Returns a pattern for the output that an example shows: `…` is anything, and ids and cursors differ. */
function patternOf(line: string): RegExp {
  const parts = line.split(/ ?…\w.*$| ?…/).map(escape);
  const pattern = parts
    .join('.*')
    .replaceAll(ID, '[0-9a-f]{24}')
    .replace(/Next-After: .*/, 'Next-After: [\\w-]+');
  return new RegExp(`^${pattern}`, 'm');
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

describe('the examples of the documents', () => {
  let service: Service;
  let examples: Example[];
  beforeAll(async () => {
    service = await startService();
    await runToExit('demo', service.env, []);
    const pages = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).sort();
    const documents = ['README.md', ...pages.map((name) => join('docs', name))];
    examples = (await Promise.all(documents.map(examplesIn))).flat();
  });
  afterAll(() => service.stop());

  const examplesOf = (language: string): Example[] => examples.filter((example) => example.language === language);
  const local = (text: string): string => text.replaceAll('http://localhost:3000', service.api.base);

  it('the console examples print what the documents show', async () => {
    const actual = new Map<string, string>();
    const shown = examplesOf('console');
    expect(shown.length).toBeGreaterThan(4);
    for (const { document, code } of shown) {
      for (const [, command = '', output = ''] of code.matchAll(/^\$ (.*)\n([^]*?)(?=^\$ |(?![^]))/gm)) {
        let line = local(command);
        for (const [written, value] of actual) line = line.replaceAll(written, value);
        const stdout = await eventually(async () => {
          const { stdout } = await run('bash', ['-c', line.replace('curl ', 'curl --silent ')]);
          for (const expected of output.split('\n').filter((text) => !['', '…'].includes(text)))
            expect({ document, command, stdout: stdout.replaceAll('\r', '') }).toEqual({
              document,
              command,
              stdout: expect.stringMatching(patternOf(expected)) as string,
            });
          return stdout;
        });
        const created = /^\{"id":"([0-9a-f]{24})"/.exec(stdout)?.[1];
        if (created !== undefined) actual.set(ID, created);
        const [written, cursor] = [output, stdout.replaceAll('\r', '')].map((text) => CURSOR.exec(text)?.[1]);
        if (written !== undefined && cursor !== undefined) actual.set(written, cursor);
      }
    }
  });

  it('the Python example runs', async () => {
    const [example] = examplesOf('python');
    await eventually(async () => {
      const { stdout } = await run('python3', ['-c', local(example?.code ?? '')]);
      expect(stdout).toContain('Crème brûlée dishes');
    });
  });

  it('the TypeScript examples compile and run with types from OpenAPI', async () => {
    const [single, walk, ...others] = examplesOf('ts').filter(({ code }) => code.includes('openapi-fetch'));
    expect(others).toEqual([]);
    // Inside the checkout, so that its packages are found.
    await mkdir(join(ROOT, '.local'), { recursive: true });
    const folder = await mkdtemp(join(ROOT, '.local', 'examples-'));
    try {
      const types = [`${service.api.base}/openapi.json`, '-o', join(folder, 'item-listing.d.ts')];
      await run(process.execPath, [NODE_TOOL('openapi-typescript/bin/cli.js'), ...types]);
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
      await writeFile(join(folder, 'single.ts'), local(single?.code ?? ''));
      await writeFile(join(folder, 'walk.ts'), local(walk?.code ?? ''));
      const options = [
        '--ignoreConfig',
        '--module',
        'nodenext',
        '--target',
        'es2022',
        '--lib',
        'es2022,dom',
        '--strict',
        '--skipLibCheck',
      ];
      const sources = [join(folder, 'single.ts'), join(folder, 'walk.ts')];
      await run(process.execPath, [NODE_TOOL('typescript/bin/tsc'), ...options, ...sources]);
      const outputOf = async (file: string): Promise<string> =>
        (await run(process.execPath, [join(folder, file)])).stdout;
      // The examples give up if the service has too little time.
      await eventually(async () => {
        expect(await outputOf('single.js')).toBe('NOT_FOUND\n');
      });
      const listed = { isVisible: true, status: 'available' } as const;
      const count = await service.database.models.items.countDocuments(listed);
      await eventually(async () => {
        expect((await outputOf('walk.js')).split('\n')).toHaveLength(count + 1);
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  }, 180_000);

  it('the JSON example shows an item with all its fields', () => {
    const items = examplesOf('json').map(({ code }) => JSON.parse(code) as object);
    expect(items).toHaveLength(1);
    expect(ItemSchema.parse(items[0])).toEqual(items[0]);
  });

  it('each example of the documents is run here, or is known with what tests it elsewhere or why no test runs it', () => {
    const others = examples.filter(
      ({ language, code }) => !['console', 'python', 'json'].includes(language) && !code.includes('openapi-fetch'),
    );
    expect(others.map(({ code }) => keyOf(code)).sort()).toEqual([...ELSEWHERE.keys()].sort());
    const tests = [...ELSEWHERE.values()].flatMap((where) => where.match(/[\w-]+\.e2e-spec\.m?ts/g) ?? []);
    expect(tests.length).toBeGreaterThan(10);
    const isTest = (name: string): boolean => ['.', '..'].some((folder) => existsSync(join(__dirname, folder, name)));
    expect(tests.filter((name) => !isTest(name))).toEqual([]);
  });
});
