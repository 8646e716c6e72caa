// `npm run import -- FILE`: imports into the database in MONGODB_URI or, if it is not set, that of `npm start`, which
// may be running.
import './node-version.mjs';
import { installIfNeeded } from './checkout/install.mjs';

await installIfNeeded({ exitCodeOnFailure: 2 });
const { runImport } = await import('./start/import.mjs');
await runImport(process.argv.slice(2));
