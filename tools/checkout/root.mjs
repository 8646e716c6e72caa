import { fileURLToPath } from 'node:url';

/** The root folder of this checkout, with a trailing slash. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The folder in which runs keep their files; not in git. */
export const LOCAL = `${ROOT}.local`;
