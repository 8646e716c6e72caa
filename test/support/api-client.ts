import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody, Item } from '@app/contracts';

export interface HttpResponse<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** On a busy machine, the 2 s of a read may run out several times. */
const READ_AGAIN_WITHIN_MS = 20_000;
const READ_AGAIN_AFTER_MS = 100;

/** A client that speaks plain HTTP and shares no code with the service. */
export class ApiClient {
  constructor(readonly base: string) {}

  /** Calls an operation. `Body` is the body that the test expects. */
  async call<Body>(
    operation: string,
    input: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse<Body>> {
    return this.post(`/api/orpc/items/${operation}`, JSON.stringify(input), {
      'Content-Type': 'application/json',
      ...headers,
    });
  }

  async post<Body>(
    path: string,
    body: NonNullable<RequestInit['body']> | null,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse<Body>> {
    return this.request(path, { method: 'POST', body, headers });
  }

  async request<Body>(path: string, init: RequestInit): Promise<HttpResponse<Body>> {
    const response = await fetch(`${this.base}${path}`, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
    };
  }

  /** Returns the items of a page, like {@link page}. */
  async getAll(input: object = {}): Promise<Item[]> {
    return (await this.page(input)).body;
  }

  /** Requests a page, and requests it again if the service had no time to read it. Throws unless the status is 200. */
  async page(input: object): Promise<HttpResponse<Item[]>> {
    const since = Date.now();
    for (;;) {
      const response = await this.call<Item[]>('getAll', input);
      const isRefused = response.status === 503;
      if (!isRefused || Date.now() - since > READ_AGAIN_WITHIN_MS) return requireOk(response, 'getAll');
      await delay(READ_AGAIN_AFTER_MS);
    }
  }

  /** Returns the created item. Throws unless the status is 200. */
  async create(input: object): Promise<Item> {
    return requireOk(await this.call<Item>('create', input), 'create').body;
  }

  /** Returns the body of an error response. Throws if the call succeeds. */
  async error(operation: string, input: unknown): Promise<ErrorBody & { data: { issues: { path: unknown[] }[] } }> {
    const { status, body } = await this.call<ErrorBody & { data: { issues: { path: unknown[] }[] } }>(operation, input);
    if (status < 400) throw new Error(`expected ${operation} to be refused, got ${JSON.stringify(body)}`);
    return body;
  }
}

function requireOk<Body>(response: HttpResponse<Body>, operation: string): HttpResponse<Body> {
  const { status, body } = response;
  if (status !== 200) throw new Error(`${operation} responded with ${String(status)} ${JSON.stringify(body)}`);
  return response;
}
