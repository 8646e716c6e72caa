import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { LOCAL, ROOT } from '../tools/checkout/root.mjs';
import { runCli } from '../tools/start/services.mjs';
import { environment } from './subjects.mjs';

const COMMANDS = join(ROOT, 'dist', 'apps', 'cli', 'src');
const LOADED = 'loaded';

/**
 * A database of generated listings.
 * @typedef {object} Catalogue
 * @property {string} name of the database, which contains the number of listings
 * @property {number} count
 * @property {number} lastPublicId the highest one loaded; items with a higher one were created later
 */

/**
 * Fills a database with generated listings, using the project's own commands: `setup`, `generate` and `import`. If an
 * earlier run has filled it, only creates new indexes and deletes the items that were created in it since.
 * @param {import('../tools/processes/launcher.mjs').Launcher} launcher
 * @param {import('./databases.mjs').Databases} databases
 * @param {number} count of listings
 * @returns {Promise<Catalogue>}
 */
export async function loadCatalogue(launcher, databases, count) {
  const name = `items-${count}`;
  const db = databases.db(name);
  const loads = db.collection('loads');
  const items = db.collection('items');
  const env = await environment(databases, name);
  const found = await loads.findOne({ _id: LOADED });
  if (found !== null) {
    await items.deleteMany({ publicId: { $gt: found.lastPublicId } });
    await launcher.steps.run(`set up ${name}`, () => runCli(launcher, 'setup', env));
    return { name, count, lastPublicId: found.lastPublicId };
  }
  await db.dropDatabase();
  await launcher.steps.run(`load ${count.toLocaleString('en')} items`, () => load(launcher, db, env, count));
  const [{ publicId: lastPublicId }] = await items.find().sort({ publicId: -1 }).limit(1).toArray();
  await loads.insertOne({ _id: LOADED, lastPublicId });
  return { name, count, lastPublicId };
}

async function load(launcher, db, env, count) {
  for (const [kind, records] of Object.entries(references())) await db.collection(kind).insertMany(records);
  await runCli(launcher, 'setup', env);
  await launcher.withTemporaryFolder(LOCAL, async (folder) => {
    const file = join(folder, 'items.ndjson');
    await generate(launcher, count, file);
    const onLine = (line) => launcher.steps.print(`[import] ${line}`);
    const options = { name: 'import', env, cwd: ROOT, onLine };
    await launcher.run(process.execPath, [join(COMMANDS, 'import.js'), file], options);
  });
}

async function generate(launcher, count, file) {
  const stdout = openSync(file, 'w');
  const script = join(COMMANDS, 'generate.js');
  await launcher.run(process.execPath, [script, String(count)], { name: 'generate', cwd: ROOT, stdout });
  closeSync(stdout);
}

/** Returns the records that generated listings refer to by number. */
function references() {
  const { demoCatalogue } = createRequire(import.meta.url)(join(COMMANDS, 'demo', 'demo-catalogue.js'));
  const { categories, brands, conditions } = demoCatalogue(new Date());
  return { categories, brands, conditions };
}
