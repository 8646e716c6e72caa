import { connect, type Socket } from 'node:net';
import type { Answer } from './api-client.js';

/** A client without manners: sends bytes as they are and reads the answers as they come. */
export class RawConnection {
  /** Whether the server closed while bytes were still on their way: a client may lose the answer by that. */
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

  /** Sends as much as the server takes, up to a number of bytes, and answers how much that was. */
  async sendOn(maxBytes: number): Promise<number> {
    const part = Buffer.alloc(65_536);
    let sent = 0;
    while (sent < maxBytes && !this.isOver) {
      sent += part.length;
      if (!this.socket.write(part)) await this.change();
    }
    return sent;
  }

  /** Sends no more, and goes on reading. */
  endSending(): this {
    this.socket.end();
    return this;
  }

  hangUp(): void {
    this.socket.destroy();
  }

  /** The next answer. */
  async answer<Body>(): Promise<Answer<Body>> {
    for (;;) {
      const answer = this.takeAnswer<Body>();
      if (answer !== undefined) return answer;
      if (this.isOver) throw new Error(`The connection was closed behind ${JSON.stringify(String(this.received))}`);
      await this.change();
    }
  }

  /** Settles once the server has closed the connection, with what came that nobody has asked for. */
  async rest(): Promise<string> {
    while (!this.isOver) await this.change();
    this.hangUp();
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

  private takeAnswer<Body>(): Answer<Body> | undefined {
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
