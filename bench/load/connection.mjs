import { once } from 'node:events';
import { connect } from 'node:net';

const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const EMPTY = Buffer.alloc(0);
/** Only the parts that responses fill take memory. */
const READ_BUFFER_BYTES = 65_536;
/** Longer than any create waits. */
const RESPONSE_TIMEOUT_MS = 150_000;

/**
 * A keep-alive connection that sends prepared bytes, one request at a time, and parses as little of a response as it can.
 * It expects responses with a Content-Length, which all servers here send.
 */
export class Connection {
  #port;
  #socket;
  #waiting;
  /** The start of a response whose head has not arrived completely. */
  #head = EMPTY;
  /** The status of the response whose body has not arrived completely. */
  #status;
  #missingBytes = 0;

  constructor(port) {
    this.#port = port;
  }

  /** Opens the connection before there is anything to send. If it cannot be opened, the first request fails. */
  async open() {
    this.#socket = this.#connect();
    await once(this.#socket, 'connect').catch(() => undefined);
  }

  /**
   * Sends a request. Resolves to the status of the response. Rejects if the connection ends first, or if nothing is
   * received for two and a half minutes.
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
    const buffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
    // Reads into one buffer, without a stream, which takes less CPU time.
    const onread = { buffer, callback: (length) => void this.#read(buffer.subarray(0, length)) };
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true, onread });
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy(new Error('no response')));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => {
      this.#waiting?.reject(new Error('closed'));
      this.#socket = undefined;
      this.#head = EMPTY;
      this.#missingBytes = 0;
    });
    return socket;
  }

  #read(chunk) {
    if (this.#missingBytes > 0) this.#missingBytes -= chunk.length;
    else if (!this.#readHead(chunk)) return;
    if (this.#missingBytes > 0) return;
    this.#waiting.resolve(this.#status);
    this.#waiting = undefined;
  }

  /** Returns whether there was a whole head that says how long the body is. */
  #readHead(chunk) {
    const received = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const headEnd = received.indexOf(HEAD_END);
    // The buffer of the chunk is read into again.
    this.#head = headEnd < 0 ? Buffer.from(received) : EMPTY;
    if (headEnd < 0) return false;
    const head = received.toString('latin1', 0, headEnd);
    const length = Number(CONTENT_LENGTH.exec(head)?.[1]);
    if (Number.isNaN(length)) {
      this.#socket.destroy(new Error('a response without Content-Length'));
      return false;
    }
    this.#missingBytes = headEnd + HEAD_END.length + length - received.length;
    // "HTTP/1.1 200 …"
    this.#status = Number(head.slice(9, 12));
    return true;
  }
}
