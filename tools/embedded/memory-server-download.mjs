// Downloads mongod to the file in the first argument.
import { renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { MongoBinary } from 'mongodb-memory-server-core';

const [target] = process.argv.slice(2);
try {
  renameSync(await MongoBinary.getPath({ downloadDir: resolve('download'), checkMD5: true }), target);
  rmSync('download', { recursive: true });
} catch (error) {
  console.error(error.message.split('\n').slice(0, 2).join(' '));
  process.exitCode = 1;
}
