import { parseArgs } from 'node:util';
import { ApiKeyRepository, TooManyKeys, type ApiKey } from '@app/database';
import { loadCliConfig, SCOPE } from '@app/runtime';
import { CommandError, printResult, report, runCommand, type Result } from './command.js';
import { DATABASE_STARTS_WITHIN_MS, withDatabase } from './with-database.js';

const USAGE = `usage: keys create --owner NAME [--scope SCOPE]... [--days N] [--json]
       keys list [--json]
       keys revoke ID [--json]`;
const OPTIONS = {
  owner: { type: 'string' },
  scope: { type: 'string', multiple: true },
  days: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;
const DEFAULT_DAYS = '365';
type Options = ReturnType<typeof readOptions>['values'];

const OWNER = /^[\w.@-]{1,100}$/;
const DAYS = /^[1-9]\d{0,3}$/;
const DAY_MS = 86_400_000;
const NOT_FOUND = 1;

type Command = (keys: ApiKeyRepository) => Promise<Result>;

/** Creates, lists and revokes API keys. Exits with 1 if there is no key to revoke. */
runCommand(USAGE, async (print) => {
  const { positionals, values } = readOptions();
  const command = commandOf(positionals, values);
  await withDatabase(report, DATABASE_STARTS_WITHIN_MS, async (database) => {
    printResult(print, await command(new ApiKeyRepository(database)), values.json);
  });
});

function readOptions() {
  return parseArgs({ options: OPTIONS, allowPositionals: true });
}

function commandOf([name, id, ...more]: string[], options: Options): Command {
  if (name === 'create' && id === undefined) return createCommand(options);
  const { owner, scope, days } = options;
  const isForCreate = [owner, scope, days].some((option) => option !== undefined);
  if (name === 'list' && id === undefined && !isForCreate) return list;
  if (name === 'revoke' && id !== undefined && more.length === 0 && !isForCreate) return (keys) => revoke(keys, id);
  throw new CommandError(USAGE);
}

function createCommand({ owner = '', days = DEFAULT_DAYS, scope = [loadCliConfig().createScope] }: Options): Command {
  if (!OWNER.test(owner))
    throw new CommandError('--owner must be 1 to 100 letters, digits, dots, dashes, underscores or @');
  if (!DAYS.test(days)) throw new CommandError('--days must be a whole number from 1 to 9999');
  if (!scope.every((each) => SCOPE.safeParse(each).success))
    throw new CommandError('--scope must be a scope without spaces');
  const expiresAt = new Date(Date.now() + Number(days) * DAY_MS);
  return (keys) => create(keys, { owner, scopes: scope, expiresAt });
}

async function create(keys: ApiKeyRepository, wanted: Parameters<ApiKeyRepository['create']>[0]): Promise<Result> {
  const { key, record } = await keys.create(wanted).catch((error: unknown) => {
    if (!(error instanceof TooManyKeys)) throw error;
    const ids = error.others.map(({ id }) => id).join(' and ');
    throw new CommandError(`${wanted.owner} already has the keys ${ids}: revoke one of them first`);
  });
  report('Keep this key: it cannot be shown again.');
  return { lines: [key], json: { key, ...record } };
}

async function list(keys: ApiKeyRepository): Promise<Result> {
  const found = await keys.findAll();
  return { lines: found.length === 0 ? ['no keys'] : found.map(lineOf), json: found };
}

async function revoke(keys: ApiKeyRepository, id: string): Promise<Result> {
  const revoked = await keys.revoke(id);
  if (revoked === undefined) return { lines: [`${id} does not exist`], json: null, exitCode: NOT_FOUND };
  return { lines: [lineOf(revoked)], json: revoked };
}

function lineOf({ id, owner, scopes, expiresAt, revokedAt }: ApiKey): string {
  const isExpired = expiresAt.getTime() <= Date.now();
  const state = revokedAt === null ? (isExpired ? 'expired' : 'expires') : 'revoked';
  const at = (revokedAt ?? expiresAt).toISOString();
  return `${id}  ${owner}  ${state} ${at}  ${scopes.join(' ')}`;
}
