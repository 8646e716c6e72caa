const RESPONSE_TIMEOUT_MS = 5000;
const API_PAGES = ['/docs', '/health/ready', '/metrics'];
const WORKER_PAGES = ['/health/ready', '/metrics'];

const EXAMPLE = {
  name: 'Oak writing desk',
  description: 'Solid oak, two drawers, a few scratches on the left side. Pick-up only.',
  price: 149.5,
  categoryId: '1',
  stock: 1,
  brandId: null,
  conditionId: 1,
  isFeatured: false,
  images: ['https://images.example.com/oak-writing-desk.jpg'],
};

/**
 * Returns the text for a newcomer: the available pages, and three commands to paste.
 * @param {number} apiPort
 * @param {number} workerPort
 * @returns {Promise<string>}
 */
export async function welcome(apiPort, workerPort) {
  const api = `http://localhost:${apiPort}`;
  const pages = [
    ...API_PAGES.map((page) => api + page),
    ...WORKER_PAGES.map((page) => `http://localhost:${workerPort}${page}`),
  ];
  const available = await Promise.all(pages.map(isAvailable));
  return [
    '',
    `Ready: ${api}`,
    ...pages.filter((_, index) => available[index]).map((page) => `  ${page}`),
    '',
    'Try it:',
    curl(api, 'getAll', { pageSize: 2 }),
    curl(api, 'create', EXAMPLE),
    curl(api, 'getById', { id: await someId(api) }),
    '',
    'Ctrl-C stops everything; embedded databases keep their data in .local/.',
  ].join('\n');
}

function curl(api, operation, body) {
  const line = `curl ${api}/api/orpc/items/${operation} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  return `  ${line}`;
}

/** Returns whether a page responds. */
async function isAvailable(page) {
  const response = await fetch(page, { signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS) }).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}

/** Returns the id of an existing item or, if there is none, a placeholder. */
async function someId(api) {
  try {
    const response = await fetch(`${api}/api/orpc/items/getAll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pageSize: 1 }),
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    return (await response.json())[0].id;
  } catch {
    return '0'.repeat(24);
  }
}
