import type { IncomingMessage } from 'node:http';
import { parseExactJson } from '@app/contracts';
import type { ApiResponse } from './answer.js';
import { Refusal } from './refusal.js';

/** The client has gone, or was too slow: nobody is left to be answered. */
export const GONE = new Error('the client has gone');

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads and parses the body of a request. No body and no Content-Type is the empty object.
 *
 * @throws Refusal when it is not JSON in UTF-8 of at most `maxBytes`; what is too large is not read to its end
 * @throws {@link GONE}
 */
export async function readBody(response: ApiResponse, maxBytes: number): Promise<unknown> {
  const { req: request } = response;
  checkMediaType(request);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (isAskingFirst(request)) response.writeContinue();
  const bytes = await readBytes(request, maxBytes);
  if (bytes.length === 0 && request.headers['content-type'] === undefined) return {};
  return parse(bytes);
}

function checkMediaType({ headers }: IncomingMessage): void {
  const { 'content-type': type, 'transfer-encoding': transfer } = headers;
  const hasBody = transfer !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const isJson = type === undefined ? !hasBody : isJsonInUtf8(type);
  const coding = headers['content-encoding'] ?? 'identity';
  const isCompressed = coding.toLowerCase() !== 'identity' || (transfer ?? 'chunked').toLowerCase() !== 'chunked';
  if (!isJson || isCompressed) throw new Refusal('UNSUPPORTED_MEDIA_TYPE');
}

function isJsonInUtf8(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)/.exec(parameter)?.[1]).find(Boolean);
  return type.trim() === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8');
}

/** `Expect: 100-continue`: the client sends its body when it is told that it will be read. */
function isAskingFirst({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === '1.1';
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= maxBytes) return;
      request.off('data', onData);
      reject(tooLarge(maxBytes));
    };
    request.on('data', onData);
    request.once('end', () => {
      resolve(Buffer.concat(chunks, length));
    });
    request.once('error', () => {
      reject(GONE);
    });
  });
}

function parse(bytes: Buffer): unknown {
  try {
    return parseExactJson(decoder.decode(bytes));
  } catch {
    throw new Refusal('BAD_REQUEST', { message: 'The body is not valid JSON in UTF-8' });
  }
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('PAYLOAD_TOO_LARGE', { message: `Body too large: at most ${String(maxBytes)} bytes` });
}
