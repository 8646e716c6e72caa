// Downloads mongod to the path in the first argument, with the folder in the second for temporary files.
import { copyFileSync } from 'node:fs';

const [target, downloadDir] = process.argv.slice(2);

// The package verifies TLS certificates only if npm's `strict-ssl` is set in the environment.
process.env.npm_config_strict_ssl = 'true';

try {
  const { MongoBinary } = await import('mongodb-memory-server-core/lib/util/MongoBinary.js');
  copyFileSync(await MongoBinary.getPath({ downloadDir, checkMD5: true }), target);
} catch (error) {
  const missing = error.code === 'ERR_MODULE_NOT_FOUND';
  console.error(
    missing ? 'mongodb-memory-server-core is not installed' : error.message.split('\n').slice(0, 2).join(' '),
  );
  process.exit(1);
}
