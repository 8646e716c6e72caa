const ANSWER_MS = 5000;
const API_PAGES = ['/docs', '/queues', '/health/ready', '/metrics'];
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
 * What a newcomer wants to see next: the pages there are, and three lines to paste.
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
  const answering = await Promise.all(pages.map(isThere));
  return [
    '',
    `Ready: ${api}`,
    ...pages.filter((_, index) => answering[index]).map((page) => `  ${page}`),
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

/** Only what answers is advertised: the dashboard, for one, may be switched off. */
async function isThere(page) {
  const answer = await fetch(page, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.ok === true;
}

/** The id of an item that is really there; without any, one that looks like it. */
async function someId(api) {
  try {
    const answer = await fetch(`${api}/api/orpc/items/getAll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ pageSize: 1 }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return (await answer.json())[0].id;
  } catch {
    return '0'.repeat(24);
  }
}
