import { StepError } from '../steps.mjs';

const PAGE_SIZE = 100;
/** Longer than the API waits for a create. */
const ANSWER_MS = 30_000;
const LISTING = {
  description: 'Made by the trial of docker-compose.yml to be counted again later.',
  price: 12.5,
  categoryId: '1',
  stock: 1,
  brandId: null,
  conditionId: null,
  isFeatured: false,
  images: ['https://images.example.com/trial.jpg'],
};

/** The API's three operations, as its clients see them. */
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
   * Creates an item: stored when that is answered, else whoever asked is to look for it under its id.
   * @param {string} name
   * @returns {Promise<{id: string, name: string, isStored: boolean, ms: number}>}
   */
  async create(name) {
    const started = performance.now();
    const { status, body } = await this.#ask('create', { ...LISTING, name });
    const ms = performance.now() - started;
    if (status === 200) return { id: body.id, name, isStored: true, ms };
    if (status === 504 && body.data?.outcome === 'unknown') return { id: body.data.id, name, isStored: false, ms };
    throw unexpected('create', status, body);
  }

  /** @returns {Promise<object | undefined>} */
  async getById(id) {
    const { status, body } = await this.#ask('getById', { id });
    if (status === 200) return body;
    if (status === 404) return undefined;
    throw unexpected('getById', status, body);
  }

  /** All items that have the word, page by page. */
  async search(word) {
    const found = [];
    for (let page = 1; ; page += 1) {
      const items = await this.getAll({ search: word, page, pageSize: PAGE_SIZE });
      found.push(...items);
      if (items.length < PAGE_SIZE) return found;
    }
  }

  async getAll(input) {
    const { status, body } = await this.#ask('getAll', input);
    if (status === 200) return body;
    throw unexpected('getAll', status, body);
  }

  async #ask(operation, input) {
    const answer = await fetch(`${this.#url}/${operation}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(input),
      signal: AbortSignal.any([this.#interrupted, AbortSignal.timeout(ANSWER_MS)]),
    });
    return { status: answer.status, body: await answer.json() };
  }
}

function unexpected(operation, status, body) {
  return new StepError(`${operation} answers ${status}`, { details: [JSON.stringify(body).slice(0, 500)] });
}
