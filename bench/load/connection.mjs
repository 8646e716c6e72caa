import { once } from 'node:events';
import { connect } from 'node:net';

const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const RETRY_AFTER = /\r\nretry-after: *\d+/i;
const EMPTY = Buffer.alloc(0);
const RESPONSE_TIMEOUT_MS = 30_000;

/**
 * A keep-alive connection that sends prepared bytes, one request at a time, and parses as little of a response as it can.
 * It expects responses with a Content-Length, which all servers here send.
 */
export class Connection {
  #port;
  #socket;
  #received = EMPTY;
  #waiting;

  constructor(port) {
    this.#port = port;
  }

  /** Opens the connection before there is anything to send. If it cannot be opened, the first request fails. */
  async open() {
    this.#socket = this.#connect();
    await once(this.#socket, 'connect').catch(() => undefined);
  }

  /**
   * Sends a request. Resolves to the status, and whether it is a 503 with `Retry-After`. Rejects if the connection ends
   * first, or if nothing is received for half a minute.
   */
  send(request) {
    this.#socket ??= this.#connect();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket?.destroy();
  }

  #connect() {
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true });
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy(new Error('no response')));
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => {
      this.#waiting?.reject(new Error('closed'));
      this.#socket = undefined;
      this.#received = EMPTY;
    });
    return socket;
  }

  #read(chunk) {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(CONTENT_LENGTH.exec(head)?.[1]);
    if (Number.isNaN(length)) this.#socket.destroy(new Error('a response without Content-Length'));
    if (!(this.#received.length >= headEnd + HEAD_END.length + length)) return;
    this.#received = EMPTY;
    // "HTTP/1.1 200 …"
    const status = Number(head.slice(9, 12));
    this.#waiting.resolve({ status, mayRetry: status === 503 && RETRY_AFTER.test(head) });
    this.#waiting = undefined;
  }
}
