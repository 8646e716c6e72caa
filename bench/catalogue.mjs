import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { runCli } from '../tools/start/services.mjs';

const COMMANDS = join(ROOT, 'dist', 'apps', 'cli', 'src');
const LOADED = 'loaded';

/**
 * Fills a database with generated listings, using the project's own commands: `setup`, `generate` and `import`. If an
 * earlier run has filled it, only creates new indexes and deletes the items that were created in it since. Returns the
 * environment of its processes, and the highest public id: items with a higher one are created later.
 */
export async function loadCatalogue({ launcher, databases }, count) {
  const name = `items-${count}`;
  const db = databases.db(name);
  const env = await databases.environment(name);
  const found = await db.collection('loads').findOne({ _id: LOADED });
  if (found !== null) {
    const { lastPublicId } = found;
    await db.collection('items').deleteMany({ publicId: { $gt: lastPublicId } });
    await launcher.steps.run(`set up ${name}`, () => runCli(launcher, 'setup', env));
    return { env, db, lastPublicId };
  }
  await db.dropDatabase();
  await launcher.steps.run(`load ${count.toLocaleString('en')} items`, () => load(launcher, db, env, count));
  const [{ publicId: lastPublicId }] = await db.collection('items').find().sort({ publicId: -1 }).limit(1).toArray();
  await db.collection('loads').insertOne({ _id: LOADED, lastPublicId });
  return { env, db, lastPublicId };
}

async function load(launcher, db, env, count) {
  // The records that generated listings refer to by number.
  const { demoCatalogue } = createRequire(import.meta.url)(join(COMMANDS, 'demo', 'demo-catalogue.js'));
  const { categories, brands, conditions } = demoCatalogue(new Date());
  await db.collection('categories').insertMany(categories);
  await db.collection('brands').insertMany(brands);
  await db.collection('conditions').insertMany(conditions);
  await runCli(launcher, 'setup', env);
  await launcher.withTemporaryFolder(LOCAL, async (folder) => {
    const file = join(folder, 'items.ndjson');
    const stdout = openSync(file, 'w');
    await run(launcher, 'generate', String(count), { stdout });
    closeSync(stdout);
    await run(launcher, 'import', file, { env, onLine: (line) => launcher.steps.print(`[import] ${line}`) });
  });
}

async function run(launcher, name, argument, options) {
  await launcher.run(process.execPath, [join(COMMANDS, `${name}.js`), argument], { name, cwd: ROOT, ...options });
}
