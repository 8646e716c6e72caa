import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../checkout/root.mjs';

const PAGES = ['/health/ready'];
const ADMIN_PAGES = ['/metrics', '/queues'];
/** Where the API serves its documentation, by the setting. */
const { DOCS = 'public' } = process.env;
const EXAMPLES = join(ROOT, 'dist', 'apps', 'api', 'src', 'docs', 'examples.js');

/** Returns the text for a newcomer: the pages, three commands to paste, and one with the addresses of embedded databases. */
export async function welcome(apiPort, adminPort, databases) {
  const api = `http://localhost:${apiPort}`;
  const { CREATE_EXAMPLE } = createRequire(import.meta.url)(EXAMPLES);
  return [
    '',
    `Ready: ${api}`,
    ...[...(DOCS === 'public' ? ['/docs'] : []), ...PAGES].map((page) => `  ${api}${page}`),
    ...[...(DOCS === 'admin' ? ['/docs'] : []), ...ADMIN_PAGES].map((page) => `  http://localhost:${adminPort}${page}`),
    '',
    'Try it:',
    curl(api, 'getAll', { pageSize: 2 }),
    curl(api, 'create', CREATE_EXAMPLE),
    curl(api, 'getById', { id: await someId(api) }),
    '',
    ...commandWith(databases),
    'Ctrl-C stops everything; embedded databases keep their data in .local/.',
  ].join('\n');
}

/** Returns an example of a command with these settings. Exported, they would also apply to the next `npm start`. */
function commandWith(databases) {
  const settings = Object.entries(databases).map(([name, uri]) => `${name}='${uri}'`);
  if (settings.length === 0) return [];
  return [
    'Other commands need the addresses of the databases, for example:',
    `  ${settings.join(' ')} npm run --silent jobs -- list`,
    '',
  ];
}

function curl(api, operation, body) {
  return `  curl ${api}/api/orpc/items/${operation} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}

/** Returns the id of an existing item or, if there is none, a placeholder. */
async function someId(api) {
  const body = JSON.stringify({ pageSize: 1 });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${api}/api/orpc/items/getAll`, { method: 'POST', headers, body });
  const [item] = response.ok ? await response.json() : [];
  return item?.id ?? '0'.repeat(24);
}
