// Compiles src/ to an ES module and to CommonJS, each with its types. `npm run pack:client` runs it.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const TSC = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
const FORMATS = [
  { folder: 'esm', module: 'es2022', type: 'module' },
  { folder: 'cjs', module: 'commonjs', type: 'commonjs' },
];

process.chdir(import.meta.dirname);
rmSync('dist', { recursive: true, force: true });
for (const { folder, module, type } of FORMATS) {
  const output = `dist/${folder}`;
  execFileSync(process.execPath, [TSC, '--project', 'tsconfig.build.json', '--module', module, '--outDir', output], {
    stdio: 'inherit',
  });
  writeFileSync(`${output}/package.json`, `${JSON.stringify({ type })}\n`);
}
