import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, errorBody, type ErrorCode } from '@app/contracts';
import { Json } from './json.js';
import type { RefusalDetails } from './refusal.js';

/** A request on its way from the front door to its controller. */
export interface ApiRequest extends IncomingMessage {
  /** The id that all log lines about this request carry. */
  requestId: string;
  /** Who sent it, as far as trusted proxies say; known once Express has seen it. */
  ip?: string;
  /** The parsed input, without its envelope. */
  body?: unknown;
  /** Whether the input came as `{"json": …}`, and so must the answer. */
  enveloped?: boolean;
}

export type ApiResponse = ServerResponse & { req: ApiRequest };

/** How the bytes of an answer leave, the response ended with them or later. */
type Finish = (response: ApiResponse, bytes: Buffer) => void;

const end: Finish = (response, bytes) => {
  response.end(bytes);
};

/** Answers a body, serialized or not, in the form the request had. */
export function answer(response: ApiResponse, status: number, body: unknown, finish = end): void {
  // Refused meanwhile, as not valid HTTP or too slow.
  if (response.headersSent) return;
  const json = body instanceof Json ? body : Json.of(body);
  const bytes = json.toBytes(response.req.enveloped === true);
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', bytes.length);
  finish(response, bytes);
}

/** Answers the one error body. */
export function answerError(response: ApiResponse, code: ErrorCode, details: RefusalDetails = {}, finish = end): void {
  const { headers = {}, ...more } = details;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  answer(response, ERRORS[code].status, errorBody(code, more), finish);
}
