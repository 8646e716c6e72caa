import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, type ErrorCode } from '@app/contracts';
import type { ApiResponse } from './answer.js';
import { refuse } from './early-refusal.js';
import { Refusal } from './refusal.js';
import { STANDING_HEADERS } from './security-headers.js';

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'TIMEOUT',
};

/** The request breaks the rules of HTTP itself. */
export const NOT_HTTP = new Refusal('BAD_REQUEST', { message: 'The request is not valid HTTP' });

/** Nothing is there, whatever the method. */
export const NO_SUCH_PATH = new Refusal('NOT_FOUND', { message: 'No such path' });

/** Closing while the client still sends would reset the connection, and it would not see the answer. */
const LINGER_MS = 2000;

interface Connection {
  /** The latest request, until it is answered. */
  latest: ApiResponse | undefined;
  isClosing: boolean;
}

/**
 * The request each connection is at. Node reports what it refuses by itself (headers too large, too
 * slow, not HTTP) for the connection alone; here is known which request, if any, that answers.
 */
export class Connections {
  private readonly open = new Map<Duplex, Connection>();

  /** The latest response that is under way on each connection. */
  get unanswered(): ApiResponse[] {
    return [...this.open.values()].flatMap(({ latest }) => latest ?? []);
  }

  /** Listener of the server's `connection`. */
  add(socket: Duplex): void {
    this.open.set(socket, { latest: undefined, isClosing: false });
    socket.on('close', () => {
      this.open.delete(socket);
    });
  }

  /**
   * Whether a request is to be handled. One behind an answer that closes its connection is not
   * (RFC 9112, 9.6): nobody would hear what became of it.
   */
  admit(response: ApiResponse): boolean {
    const connection = this.open.get(response.req.socket);
    if (connection === undefined || connection.isClosing || connection.latest?.shouldKeepAlive === false) return false;
    connection.latest = response;
    response.on('close', () => {
      if (!response.shouldKeepAlive) connection.isClosing = true;
      if (connection.latest === response) connection.latest = undefined;
    });
    return true;
  }

  /** Listener of the server's `clientError`: answers, and closes the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    this.refuseRest(socket, refusalFor(error));
  }

  /** Listener of the server's `connect`: this is no proxy, and whom to reach is no path of ours. */
  refuseTunnel(socket: Duplex): void {
    // Node has let go of it: without a listener, a client that hangs up would end the process.
    socket.on('error', () => undefined);
    this.refuseRest(socket, NO_SUCH_PATH);
  }

  /** Refuses what comes next on a connection, and closes it. */
  private refuseRest(socket: Duplex, refusal: Refusal): void {
    const connection = this.open.get(socket);
    // Once its parser has failed, Node reports every further piece of input.
    if (connection === undefined || connection.isClosing) return;
    connection.isClosing = true;
    const { latest: response } = connection;
    if (response === undefined) {
      refuseUnborn(socket, refusal);
    } else if (response.req.complete) {
      // What is refused came behind a request that still waits for its answer.
      response.once('close', () => {
        refuseUnborn(socket, refusal);
      });
    } else if (!response.headersSent) {
      refuse(response, refusal);
    }
  }
}

function refusalFor({ code: reason = '' }: NodeJS.ErrnoException): Refusal {
  const code = CODES[reason];
  return code === undefined ? NOT_HTTP : new Refusal(code);
}

/** Answers bytes that never became a request. */
function refuseUnborn(socket: Duplex, { code, details }: Refusal): void {
  if (!socket.writable) return;
  const body = errorBody(code, details);
  const bytes = Buffer.from(JSON.stringify(body));
  const head = [
    `HTTP/1.1 ${String(body.status)} ${STATUS_CODES[body.status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${String(bytes.length)}`,
    `Date: ${new Date().toUTCString()}`,
    ...STANDING_HEADERS.map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
