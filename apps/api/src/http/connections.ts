import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@app/contracts';
import type { ApiResponse } from './api-message.js';
import { ClientConnection, type Begin } from './client-connection.js';
import { MemoryBudget } from './memory-budget.js';
import { ApiError } from './api-error.js';

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'TIMEOUT',
};

/** The request breaks the rules of HTTP itself. */
export const NOT_HTTP = new ApiError('BAD_REQUEST', { message: 'The request is not valid HTTP' });

/** Nothing is there, whatever the method. */
export const NO_SUCH_PATH = new ApiError('NOT_FOUND', { message: 'No such path' });

/** For all clients together; a prompt client needs some for milliseconds. */
const HELD_BYTES = 64 * 1024 * 1024;
/** A client that takes nothing of its answer for this long is cut off. */
const UNREAD_MS = 30_000;

/**
 * The open connections. Node reports what it refuses by itself (headers too large, too slow, not HTTP) for the
 * connection alone; each connection knows which request, if any, that answers.
 */
export class Connections {
  private readonly open = new Map<Duplex, ClientConnection>();
  private readonly budget = new MemoryBudget(HELD_BYTES, () => {
    this.pauseReading();
  });
  private isPaused = false;

  /** The response that is under way on each connection. */
  get unanswered(): ApiResponse[] {
    return [...this.open.values()].flatMap(({ unanswered }) => unanswered ?? []);
  }

  /** Listener of the server's `connection`. */
  add(socket: Socket, unreadMs = UNREAD_MS): void {
    this.open.set(socket, new ClientConnection(socket, this.budget, unreadMs));
    socket.on('close', () => {
      this.open.delete(socket);
    });
  }

  /** Reads nothing more in this turn of the event loop: what a connection has sent is kept until its end. */
  private pauseReading(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    const connections = [...this.open.values()];
    for (const connection of connections) connection.pause();
    setImmediate(() => {
      this.isPaused = false;
      for (const connection of connections) connection.readOn();
    });
  }

  /** Has a request begun when it is its turn, or never where an answer before it closes the connection. */
  admit(response: ApiResponse, begin: Begin): void {
    this.open.get(response.req.socket)?.admit(response, begin);
  }

  /** Listener of the server's `clientError`: answers, and closes the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    this.open.get(socket)?.refuse(toApiError(error));
  }

  /** Listener of the server's `connect`: this is no proxy, and whom to reach is no path of ours. */
  refuseTunnel(socket: Duplex): void {
    // Node has let go of it: without a listener, a client that hangs up would end the process.
    socket.on('error', () => undefined);
    this.open.get(socket)?.refuse(NO_SUCH_PATH);
  }
}

function toApiError({ code: reason = '' }: NodeJS.ErrnoException): ApiError {
  const code = CODES[reason];
  return code === undefined ? NOT_HTTP : new ApiError(code);
}
