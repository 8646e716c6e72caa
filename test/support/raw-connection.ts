import { connect, type Socket } from 'node:net';
import type { HttpResponse } from './api-client.js';

/** A client that sends arbitrary bytes and reads responses one by one. */
export class RawConnection {
  /** Whether the server reset the connection, which may cost a client the response. */
  wasReset = false;
  private received = Buffer.alloc(0);
  private isClosed = false;
  private wake: () => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    socket.on('error', () => {
      this.wasReset = true;
    });
    socket.on('drain', () => {
      this.wake();
    });
    socket.on('end', () => {
      this.wake();
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.wake();
    });
  }

  static async open(base: string): Promise<RawConnection> {
    const { hostname, port } = new URL(base);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new RawConnection(socket);
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  /** Sends until the server closes the connection or `maxBytes` are sent. Returns the number of bytes sent. */
  async sendUpTo(maxBytes: number): Promise<number> {
    const part = Buffer.alloc(65_536);
    let sent = 0;
    while (sent < maxBytes && !this.isOver) {
      sent += part.length;
      if (!this.socket.write(part)) await this.change();
    }
    return sent;
  }

  /** Half-closes the connection: stops sending but keeps reading. */
  halfClose(): this {
    this.socket.end();
    return this;
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Waits for the next response. */
  async nextResponse<Body>(): Promise<HttpResponse<Body>> {
    for (;;) {
      const response = this.takeResponse<Body>();
      if (response !== undefined) return response;
      if (this.isOver) throw new Error(`The connection was closed after ${JSON.stringify(String(this.received))}`);
      await this.change();
    }
  }

  /** Waits until the server closes the connection. Returns the bytes that have not been read as a response. */
  async readToEnd(): Promise<string> {
    while (!this.isOver) await this.change();
    this.destroy();
    return String(this.received);
  }

  private get isOver(): boolean {
    return this.isClosed || this.socket.readableEnded;
  }

  private change(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private takeResponse<Body>(): HttpResponse<Body> | undefined {
    const headEnd = this.received.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [start = '', ...lines] = this.received.toString('latin1', 0, headEnd).split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
    const end = headEnd + 4 + Number(headers.get('content-length') ?? 0);
    if (this.received.length < end) return undefined;
    const text = this.received.toString('utf8', headEnd + 4, end);
    this.received = this.received.subarray(end);
    const body = (text === '' ? undefined : JSON.parse(text)) as Body;
    return { status: Number(start.split(' ')[1]), headers, body };
  }
}
