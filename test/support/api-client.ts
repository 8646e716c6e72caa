import { setTimeout as delay } from 'node:timers/promises';
import type { ErrorBody, Item } from '@app/contracts';

export interface HttpResponse<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** On a busy machine, the service may refuse a request several times because it had too little time. */
const REPEAT_WITHIN_MS = 20_000;
const REPEAT_AFTER_MS = 100;

/**
 * A client that speaks plain HTTP and shares no code with the service. Like other clients, it repeats a call that gets a
 * 503, for up to 20 s.
 */
export class ApiClient {
  constructor(readonly base: string) {}

  /** Calls an operation. `Body` is the body that the test expects. */
  async call<Body>(
    operation: string,
    input: unknown,
    headers: Record<string, string> = {},
  ): Promise<HttpResponse<Body>> {
    return untilServed(() => this.callOnce<Body>(operation, input, headers));
  }

  /** Calls an operation, and does not repeat the call. */
  async callOnce<Body>(
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

  /** Requests a page. Throws unless the status is 200. */
  async page(input: object): Promise<HttpResponse<Item[]>> {
    return requireOk(await this.call<Item[]>('getAll', input), 'getAll');
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

/** Sends a request, and sends it again while it gets a 503, for up to 20 s. */
export async function untilServed<Response extends { status: number }>(
  send: () => Promise<Response>,
): Promise<Response> {
  const since = Date.now();
  for (;;) {
    const response = await send();
    if (response.status !== 503 || Date.now() - since > REPEAT_WITHIN_MS) return response;
    await delay(REPEAT_AFTER_MS);
  }
}

function requireOk<Body>(response: HttpResponse<Body>, operation: string): HttpResponse<Body> {
  const { status, body } = response;
  if (status !== 200) throw new Error(`${operation} responded with ${String(status)} ${JSON.stringify(body)}`);
  return response;
}
