// `npm start`: runs everything on one machine, from a bare checkout to example commands. Binds 127.0.0.1 only.
import './node-version.mjs';
import { installIfNeeded } from './checkout/install.mjs';

await installIfNeeded();
const { run } = await import('./start/run.mjs');
await run();
