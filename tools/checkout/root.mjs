import { fileURLToPath } from 'node:url';

/** The folder of this checkout, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What runs keep in this checkout; not in git. */
export const LOCAL = `${ROOT}.local`;
