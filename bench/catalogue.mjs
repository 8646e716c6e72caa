import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../tools/checkout/root.mjs';
import { cliScript, runCli } from '../tools/start/services.mjs';
import { number } from './figures.mjs';

/**
 * Fills a database with generated listings, using the project's own commands: `setup`, `generate` and `import`. If an
 * earlier run has filled it, only creates new indexes. Returns the database and the environment of its processes.
 */
export async function loadCatalogue({ launcher, databases }, count) {
  const env = await databases.environment(`items-${count}`);
  const db = databases.db(env);
  const isLoaded = (await db.collection('loads').findOne()) !== null;
  await launcher.steps.run(`load ${number(count)} items`, async () => {
    if (!isLoaded) {
      await db.dropDatabase();
      await insertReferences(db);
    }
    await runCli(launcher, 'setup', env);
    if (!isLoaded) await importGenerated(launcher, env, count);
  });
  await db.collection('loads').updateOne({}, { $set: { count } }, { upsert: true });
  return { env, db };
}

/** Inserts the categories, brands and conditions of the demo catalogue, to which items refer by number. */
export async function insertReferences(db) {
  const demo = join(ROOT, 'dist', 'apps', 'cli', 'src', 'demo', 'demo-catalogue.js');
  const records = createRequire(import.meta.url)(demo).demoCatalogue(new Date());
  for (const name of ['categories', 'brands', 'conditions']) await db.collection(name).insertMany(records[name]);
}

async function importGenerated(launcher, env, count) {
  const onLine = (line) => launcher.steps.print(`[import] ${line}`);
  const pipe = `"$0" "$1" ${count} | "$0" "$2" -`;
  const args = ['-c', pipe, process.execPath, cliScript('generate'), cliScript('import')];
  await launcher.run('sh', args, { name: 'import', env, onLine });
}
