import type { ErrorBody, Item } from '@app/contracts';

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

/** A client as a stranger would write it: plain HTTP, nothing of the service's own code. */
export class ApiClient {
  constructor(readonly base: string) {}

  /** One operation; `Body` is what the test expects to come back. */
  async call<Body>(operation: string, input: unknown, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.post(`/api/orpc/items/${operation}`, JSON.stringify(input), {
      'Content-Type': 'application/json',
      ...headers,
    });
  }

  async post<Body>(
    path: string,
    body: NonNullable<RequestInit['body']> | null,
    headers: Record<string, string> = {},
  ): Promise<Answer<Body>> {
    return this.request(path, { method: 'POST', body, headers });
  }

  async request<Body>(path: string, init: RequestInit): Promise<Answer<Body>> {
    const response = await fetch(`${this.base}${path}`, init);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Body,
    };
  }

  /** The items of a list that must succeed. */
  async getAll(input: object = {}): Promise<Item[]> {
    return this.ok('getAll', input);
  }

  /** The created item of a create that must succeed. */
  async create(input: object): Promise<Item> {
    return this.ok('create', input);
  }

  /** The error of a call that must fail. */
  async error(operation: string, input: unknown): Promise<ErrorBody & { data: { issues: { path: unknown[] }[] } }> {
    const { status, body } = await this.call<ErrorBody & { data: { issues: { path: unknown[] }[] } }>(operation, input);
    if (status < 400) throw new Error(`${operation} was expected to be refused, and answered ${JSON.stringify(body)}`);
    return body;
  }

  private async ok<Body>(operation: string, input: object): Promise<Body> {
    const { status, body } = await this.call<Body>(operation, input);
    if (status !== 200) throw new Error(`${operation} answered ${String(status)} ${JSON.stringify(body)}`);
    return body;
  }
}
