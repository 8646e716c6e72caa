import { StepError } from '../../tools/steps.mjs';

const PAGE_SIZE = 100;
/** Longer than the API waits for a create. */
const RESPONSE_TIMEOUT_MS = 30_000;
const LISTING = {
  description: 'Made by the test of docker-compose.yml to be counted again later.',
  price: 12.5,
  categoryId: '1',
  stock: 1,
  brandId: null,
  conditionId: null,
  isFeatured: false,
  images: ['https://images.example.com/trial.jpg'],
};

/** A client of the API's three operations. */
export class Items {
  #url;
  #interrupted;

  /**
   * @param {number} port
   * @param {AbortSignal} interrupted
   */
  constructor(port, interrupted) {
    this.#url = `http://127.0.0.1:${port}/api/orpc/items`;
    this.#interrupted = interrupted;
  }

  /**
   * Creates an item. If `isStored` is false, the outcome is unknown, and the caller has to look the item up by its id.
   * @param {string} name
   * @returns {Promise<{id: string, name: string, isStored: boolean, ms: number}>}
   */
  async create(name) {
    const started = performance.now();
    const { status, body } = await this.#send('create', { ...LISTING, name });
    const ms = performance.now() - started;
    if (status === 200) return { id: body.id, name, isStored: true, ms };
    if (status === 504 && body.data?.outcome === 'unknown') return { id: body.data.id, name, isStored: false, ms };
    throw unexpected('create', status, body);
  }

  /** @returns {Promise<object | undefined>} */
  async getById(id) {
    const { status, body } = await this.#send('getById', { id });
    if (status === 200) return body;
    if (status === 404) return undefined;
    throw unexpected('getById', status, body);
  }

  /** Returns all items that contain the word, read page by page. */
  async search(word) {
    const found = [];
    for (let page = 1; ; page += 1) {
      const items = await this.getAll({ search: word, page, pageSize: PAGE_SIZE });
      found.push(...items);
      if (items.length < PAGE_SIZE) return found;
    }
  }

  async getAll(input) {
    const { status, body } = await this.#send('getAll', input);
    if (status === 200) return body;
    throw unexpected('getAll', status, body);
  }

  async #send(operation, input) {
    const response = await fetch(`${this.#url}/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
      signal: AbortSignal.any([this.#interrupted, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]),
    });
    return { status: response.status, body: await response.json() };
  }
}

function unexpected(operation, status, body) {
  return new StepError(`${operation} responded with ${status}`, { details: [JSON.stringify(body).slice(0, 500)] });
}
