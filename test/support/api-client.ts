import type { ErrorBody, Item } from '@app/contracts';

export interface HttpResponse<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

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

  /** Returns the items of a page. Throws unless the status is 200. */
  async getAll(input: object = {}): Promise<Item[]> {
    return this.ok('getAll', input);
  }

  /** Returns the created item. Throws unless the status is 200. */
  async create(input: object): Promise<Item> {
    return this.ok('create', input);
  }

  /** Returns the body of an error response. Throws if the call succeeds. */
  async error(operation: string, input: unknown): Promise<ErrorBody & { data: { issues: { path: unknown[] }[] } }> {
    const { status, body } = await this.call<ErrorBody & { data: { issues: { path: unknown[] }[] } }>(operation, input);
    if (status < 400) throw new Error(`expected ${operation} to be refused, got ${JSON.stringify(body)}`);
    return body;
  }

  private async ok<Body>(operation: string, input: object): Promise<Body> {
    const { status, body } = await this.call<Body>(operation, input);
    if (status !== 200) throw new Error(`${operation} responded with ${String(status)} ${JSON.stringify(body)}`);
    return body;
  }
}
