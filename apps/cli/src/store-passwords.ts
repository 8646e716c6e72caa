import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CommandError, runCommand } from './command.js';

const USAGE = 'usage: store-passwords SERVICE_FOLDER ADMIN_FOLDER';
/** Users of the images of MongoDB and Node.js. */
const MONGODB = 999;
const NODE = 1000;
const OWNER_ONLY = 0o400;
/** The user of Redis's image is not the same everywhere. */
const WORLD_READABLE = 0o444;

/**
 * Writes random passwords for the databases of docker-compose.yml to files, as settings of those who use them. The
 * second folder gives full access to MongoDB. Does nothing if the files exist. Must run as root, because each file
 * belongs to its reader.
 */
runCommand(USAGE, (print) => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [folder, adminFolder] = positionals;
  if (folder === undefined || adminFolder === undefined)
    throw Object.assign(new TypeError('A folder is missing'), { code: 'ERR_INVALID_ARG_VALUE' });
  // Written last.
  const last = 'mongodb-uri';
  if (existsSync(join(folder, last))) {
    print('the passwords of the databases are there');
    return;
  }
  const [admin, service, redis] = [password(), password(), password()];
  const mongodb = (user: string, secret: string): string =>
    `mongodb://${user}:${secret}@mongo:27017/item-listing?replicaSet=rs0&authSource=admin`;
  write(adminFolder, 'mongodb-key', randomBytes(384).toString('base64'), { owner: MONGODB, mode: OWNER_ONLY });
  write(folder, 'redis.conf', `requirepass ${redis}\n`, { owner: NODE, mode: WORLD_READABLE });
  write(folder, 'redis-url', `redis://:${redis}@redis:6379`, { owner: NODE, mode: OWNER_ONLY });
  write(adminFolder, 'mongodb-admin-uri', mongodb('admin', admin), { owner: NODE, mode: OWNER_ONLY });
  write(folder, last, mongodb('item-listing', service), { owner: NODE, mode: OWNER_ONLY });
  print('created passwords for the databases');
});

function password(): string {
  return randomBytes(32).toString('hex');
}

/** Writes a file as a whole, because an interrupted run is repeated. */
function write(folder: string, name: string, content: string, { owner, mode }: { owner: number; mode: number }): void {
  const [path, partial] = [join(folder, name), join(folder, `${name}.new`)];
  try {
    rmSync(partial, { force: true });
    writeFileSync(partial, content, { mode });
    chownSync(partial, owner, owner);
    renameSync(partial, path);
  } catch (error) {
    throw new CommandError(`Cannot write ${path}: ${(error as Error).message}`);
  }
}
