import type { Socket } from 'node:net';
import type { ApiResponse, Client } from './api-message.js';
import { sendEarlyError, sendUnparsedError } from './early-error.js';
import type { MemoryBudget } from './memory-budget.js';
import type { ApiError } from './api-error.js';

/** Goes on with a request once it is its turn. */
export type Begin = (response: ApiResponse) => void;

/** About what Node keeps for a parsed request and for each of its header names and values. */
const REQUEST_BYTES = 2048;
const HEADER_BYTES = 48;
/** Without a byte in either direction; longer than any create waits. */
export const IDLE_MS = 150_000;

/** What a body in chunks may cost while it waits: one read of its socket, 64 KiB, holds some 10,000 chunks of one byte. */
const CHUNKS_BYTES = 6 * 1024 * 1024;

/**
 * A client's connection: begins its requests one at a time, in order, and does not read on while one waits or an answer
 * has not been read. Pipelined requests may run at once only where all are safe (RFC 9112, 9.3.2), and a POST is not.
 */
export class ClientConnection implements Client {
  private current: ApiResponse | undefined;
  private readonly waiting: (() => void)[] = [];
  private waitingBytes = 0;
  private currentBytes = 0;
  /** Whether the client has not taken the current answer yet. */
  private isUnread = false;
  /** What the rest of the connection is answered, once the requests before it have been. */
  private error: ApiError | undefined;
  private isClosing = false;

  constructor(
    private readonly socket: Socket,
    private readonly budget: MemoryBudget,
    private readonly unreadMs: number,
  ) {
    socket.on('resume', () => {
      this.stayPaused();
    });
    socket.on('close', () => {
      this.close();
    });
  }

  /** The response that is under way. */
  get unanswered(): ApiResponse | undefined {
    return this.current;
  }

  /** Begins a request, or has it wait for those before it. */
  admit(response: ApiResponse, begin: Begin): void {
    const isNext = this.current === undefined && this.waiting.length === 0 && !this.isClosing;
    if (isNext) this.start(response, begin);
    else this.wait(response, begin);
  }

  hold(bytes: number): void {
    if (bytes === this.currentBytes) return;
    this.currentBytes = bytes;
    this.account();
  }

  holdUntilRead(bytes: number): void {
    this.isUnread = true;
    this.hold(bytes);
    // Input would pass for progress. Node looks at that of a write when the time is up, and then grants the time again.
    this.socket.pause().setTimeout(this.unreadMs / 2);
  }

  /** Stops reading, until {@link readOn} is called. */
  pause(): void {
    this.socket.pause();
  }

  /** Reads on, unless something has to be waited for. */
  readOn(): void {
    if (!this.isHeldBack) this.socket.resume();
  }

  cutOff(): void {
    this.socket.destroy();
  }

  /** Refuses what comes next, and closes the connection. */
  refuse(error: ApiError): void {
    // Once its parser has failed, Node reports every further piece of input.
    if (this.isClosing || this.error !== undefined) return;
    this.error = error;
    this.refuseRest();
    if (this.isHeldBack) this.socket.pause();
  }

  private start(response: ApiResponse, begin: Begin): void {
    this.current = response;
    response.client = this;
    response.on('close', () => {
      this.finish();
    });
    begin(response);
  }

  private wait(response: ApiResponse, begin: Begin): void {
    const { headers, rawHeaders } = response.req;
    const chunksBytes = headers['transfer-encoding'] === undefined ? 0 : CHUNKS_BYTES;
    const bytes = REQUEST_BYTES + HEADER_BYTES * rawHeaders.length + chunksBytes;
    this.waitingBytes += bytes;
    this.account();
    if (this.isClosing || this.error !== undefined) {
      response.req.resume();
      return;
    }
    this.socket.pause();
    this.waiting.push(() => {
      this.waitingBytes -= bytes;
      this.start(response, begin);
    });
  }

  private finish(): void {
    this.current = undefined;
    this.hold(0);
    // A request after a response that closes the connection gets no response (RFC 9112, 9.6).
    if (!this.socket.writable) {
      this.close();
      return;
    }
    if (this.isUnread && this.waiting.length > 0) this.socket.setTimeout(IDLE_MS);
    this.isUnread = false;
    // Not at once: other connections have their turn in between.
    if (this.waiting.length > 0)
      setImmediate(() => {
        this.next();
      });
    else this.next();
  }

  private next(): void {
    this.waiting.shift()?.();
    this.refuseRest();
    this.readOn();
  }

  private refuseRest(): void {
    const { current, error } = this;
    if (error === undefined || this.waiting.length > 0) return;
    if (current === undefined) {
      this.isClosing = true;
      sendUnparsedError(this.socket, error);
    } else if (!current.req.complete && !current.headersSent) {
      sendEarlyError(current, error);
    }
  }

  private get isHeldBack(): boolean {
    // What follows a refused request is read and dropped: otherwise the reset would reach the client before the error.
    const isRefusedLater = this.error !== undefined && this.current?.req.complete === true;
    return this.waiting.length > 0 || this.isUnread || isRefusedLater;
  }

  /** Node resumes a socket to read a body, and once an answer has been taken. */
  private stayPaused(): void {
    if (!this.isHeldBack) return;
    // Paused since resume() was called: Node reads all the same, and another pause() would do nothing.
    if (this.socket.isPaused()) this.socket.resume();
    else this.socket.pause();
  }

  private close(): void {
    this.isClosing = true;
    this.waiting.length = 0;
    this.waitingBytes = 0;
    this.currentBytes = 0;
    this.account();
  }

  private account(): void {
    this.budget.set(this, this.socket.destroyed ? 0 : this.currentBytes + this.waitingBytes);
  }
}
