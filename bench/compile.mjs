import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { transformFile } from '@swc/core';
import { ROOT } from '../tools/checkout/root.mjs';

/** Compiles a TypeScript module into a folder. Returns its path there. */
export async function compile(file, folder) {
  const { code } = await transformFile(file, { cwd: ROOT, sourceMaps: 'inline' });
  const path = join(folder, `${basename(file, '.ts')}.js`);
  writeFileSync(path, code);
  return path;
}
