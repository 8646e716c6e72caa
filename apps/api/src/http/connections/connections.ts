import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@app/contracts';
import type { ApiResponse } from '../api-message.js';
import { ClientConnection, type HandleRequest } from './client-connection.js';
import { MemoryBudget } from './memory-budget.js';
import { NewConnections } from './new-connections.js';
import { ApiError } from '../api-error.js';

const CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'REQUEST_HEADER_FIELDS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'TIMEOUT',
};

/** The request violates HTTP itself. */
export const NOT_HTTP = new ApiError('BAD_REQUEST', { message: 'The request is not valid HTTP' });

/** The path does not exist for any method. */
export const NO_SUCH_PATH = new ApiError('NOT_FOUND', { message: 'No such path' });

/** For all clients together. A prompt client holds its share for milliseconds. */
const HELD_BYTES = 48 * 1024 * 1024;
/** A client that does not read its response for this long is cut off. */
const UNREAD_MS = 30_000;

/**
 * The open connections. Node reports the errors that it detects itself (headers too large, request too slow, invalid
 * HTTP) for a socket. Its connection knows which request, if any, to respond to.
 */
export class Connections {
  private readonly open = new Map<Duplex, ClientConnection>();
  private readonly budget = new MemoryBudget(HELD_BYTES, () => {
    this.pauseReading();
  });
  private readonly arriving = new NewConnections();
  private isPaused = false;

  /** The current response of each connection. */
  get pendingResponses(): ApiResponse[] {
    return [...this.open.values()].flatMap(({ pendingResponse }) => pendingResponse ?? []);
  }

  /** Handles the server's `connection` event. */
  add(socket: Socket, unreadMs = UNREAD_MS): void {
    this.arriving.add();
    this.open.set(socket, new ClientConnection(socket, this.budget, unreadMs));
    socket.on('close', () => {
      this.open.delete(socket);
    });
  }

  /** Stops all reading for this turn of the event loop: input that has been read is held until the turn ends. */
  private pauseReading(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    const connections = [...this.open.values()];
    for (const connection of connections) connection.pause();
    setImmediate(() => {
      this.isPaused = false;
      for (const connection of connections) connection.resume();
    });
  }

  /** Begins a request when its turn comes, or never if an earlier response closes the connection. */
  admit(response: ApiResponse, handle: HandleRequest): void {
    this.open.get(response.req.socket)?.admit(response, handle);
  }

  /** Resolves once the connections that have arrived are accepted. Undefined if there are none. */
  get accepted(): Promise<void> | undefined {
    return this.arriving.accepted;
  }

  /** Handles the server's `clientError` event: responds, and closes the connection. */
  refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
    this.open.get(socket)?.refuse(toApiError(error));
  }

  /** Handles the server's `connect` event. The service is not a proxy, so a CONNECT target does not exist. */
  refuseTunnel(socket: Duplex): void {
    // Node has detached from the socket. Without a listener, a client that resets the connection would end the process.
    socket.on('error', () => undefined);
    this.open.get(socket)?.refuse(NO_SUCH_PATH);
  }
}

function toApiError({ code: reason = '' }: NodeJS.ErrnoException): ApiError {
  const code = CODES[reason];
  return code === undefined ? NOT_HTTP : new ApiError(code);
}
