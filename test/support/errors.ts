import type { ErrorBody } from '@app/contracts';
import type { HttpResponse } from './api-client.js';

const BASE_HEADERS = ['cache-control', 'connection', 'content-length', 'content-type', 'date', 'x-request-id'];
const SECURITY_HEADERS = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
];
const EXTRA_HEADERS = ['allow', 'keep-alive', 'retry-after'];
const INTERNAL_DETAILS =
  /node_modules|\.[jt]s\b|\bat .+:\d+|stack|mongo|redis|bullmq|express|\bnest\b|nestjs|zod|ECONN|HPE_|ERR_/i;

/** Expects an error response with exactly the documented keys and headers, and without internal details. */
export function expectError(
  { status, headers, body }: HttpResponse<ErrorBody>,
  expectedStatus: number,
  code: string,
): void {
  expect(body).toEqual({
    defined: false,
    code,
    status: expectedStatus,
    message: expect.stringMatching(/^\S.*\S$/) as string,
    ...('data' in body ? { data: expect.any(Object) as object } : {}),
  });
  expect(status).toBe(expectedStatus);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(Date.parse(headers.get('date') ?? '')).not.toBeNaN();
  for (const name of SECURITY_HEADERS) expect([name, headers.get(name)]).toEqual([name, expect.any(String)]);
  expect(headers.get('x-request-id')).toMatch(/^[\w.:+/=@-]{1,128}$/);
  const names = [...headers.keys()];
  expect(names.filter((name) => ![...BASE_HEADERS, ...SECURITY_HEADERS, ...EXTRA_HEADERS].includes(name))).toEqual([]);
  expect(JSON.stringify(body)).not.toMatch(INTERNAL_DETAILS);
}
