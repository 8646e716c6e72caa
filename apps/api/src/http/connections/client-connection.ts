import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { EventLoopTurns } from '@app/runtime';
import type { ApiResponse, RequestConnection } from '../api-message.js';
import { sendEarlyError, sendUnparsedError } from './early-error.js';
import type { MemoryBudget } from './memory-budget.js';
import type { ApiError } from '../api-error.js';

/** Handles a request once its turn comes. */
export type HandleRequest = (response: ApiResponse) => void;

/** Estimates of what Node holds for a parsed request, and for each of its header names and values. */
const REQUEST_BYTES = 2048;
const HEADER_BYTES = 48;
/** A request with more header names and values counts as memory held for the client until its response is sent. */
const USUAL_HEADERS = 200;
/** A connection without a byte in either direction is closed after this time. Longer than any create waits. */
export const IDLE_MS = 150_000;

/** The size of one read of the socket: the most that Node.js holds of the bodies of waiting requests. */
const READ_BYTES = 64 * 1024;
/** How much memory Node may hold for each byte of a chunked body, which may have chunks of one byte. */
const CHUNKED_BYTE = 96;
/**
 * After this many chunks of a body, other connections get their turn. Node.js reads up to 2 MB from a connection at a time,
 * and emits each chunk on its own, which takes long if each has one byte.
 */
const CHUNKS_PER_TURN = 1000;
/** Connections wait here for their turn after so many chunks. One of them reads in each turn of the event loop. */
const turns = new EventLoopTurns(1);

/**
 * A client's connection. Begins its requests one at a time, in order, and stops reading while a request waits or a
 * response is unread. Pipelined requests may only run concurrently if all are safe (RFC 9112, 9.3.2), but a POST is
 * not.
 */
export class ClientConnection implements RequestConnection {
  private current: ApiResponse | undefined;
  private readonly waiting: (() => void)[] = [];
  private waitingBytes = 0;
  /** How many of the waiting requests have a chunked body. */
  private waitingChunked = 0;
  /** How many bytes had been read when no request waited. */
  private readBefore = 0;
  private currentBytes = 0;
  /** The memory of the current response, if the client has not read it yet. */
  private unread: object | undefined;
  /** The error response to the rest of the input. Sent after the responses to earlier requests. */
  private error: ApiError | undefined;
  private isClosing = false;
  /** Whether other connections have their turn, because a body has arrived in many chunks. */
  private awaitsTurn = false;

  constructor(
    private readonly socket: Socket,
    private readonly budget: MemoryBudget,
    private readonly unreadMs: number,
  ) {
    socket.on('resume', () => {
      this.keepPaused();
    });
    socket.on('close', () => {
      this.close();
    });
  }

  /** The current response. */
  get pendingResponse(): ApiResponse | undefined {
    return this.current;
  }

  /** Begins a request, or queues it after earlier ones. */
  admit(response: ApiResponse, handle: HandleRequest): void {
    const isNext = this.current === undefined && this.waiting.length === 0 && !this.isClosing;
    if (isNext) this.start(response, handle);
    else this.wait(response, handle);
  }

  takeTurns(request: IncomingMessage): void {
    if (request.headers['transfer-encoding'] === undefined) return;
    let chunks = 0;
    request.on('data', () => {
      chunks++;
      if (chunks % CHUNKS_PER_TURN === 0) this.awaitTurn();
    });
  }

  hold(bytes: number): void {
    const length = this.current?.req.rawHeaders.length ?? 0;
    const currentBytes = bytes + (length > USUAL_HEADERS ? HEADER_BYTES * length : 0);
    if (currentBytes === this.currentBytes) return;
    this.currentBytes = currentBytes;
    this.account();
  }

  holdUntilRead(bytes: number, memory: object): void {
    this.release();
    this.unread = memory;
    this.hold(REQUEST_BYTES);
    // A closed connection would never leave.
    if (!this.socket.destroyed) this.budget.share(memory, this, bytes);
    // Paused, because input would count as activity. Half the time, because Node checks the progress of a write only
    // when the timer fires, and restarts it after any.
    this.socket.pause().setTimeout(this.unreadMs / 2);
  }

  /** Stops reading until {@link resume} is called. */
  pause(): void {
    this.socket.pause();
  }

  /** Reads again, unless the connection has to wait. */
  resume(): void {
    if (!this.mustWait) this.socket.resume();
  }

  cutOff(): void {
    this.socket.destroy();
  }

  /** Rejects the rest of the input with an error, and closes the connection. */
  refuse(error: ApiError): void {
    // After a parser error, Node reports every further chunk of input.
    if (this.isClosing || this.error !== undefined) return;
    this.error = error;
    this.refuseRest();
    if (this.mustWait) this.socket.pause();
  }

  private start(response: ApiResponse, handle: HandleRequest): void {
    this.current = response;
    response.clientConnection = this;
    this.hold(0);
    response.on('close', () => {
      this.finish();
    });
    handle(response);
  }

  private wait(response: ApiResponse, handle: HandleRequest): void {
    const { headers, rawHeaders } = response.req;
    const chunked = headers['transfer-encoding'] === undefined ? 0 : 1;
    const bytes = REQUEST_BYTES + HEADER_BYTES * rawHeaders.length;
    this.waitingBytes += bytes;
    this.waitingChunked += chunked;
    this.account();
    if (this.isClosing || this.error !== undefined) {
      this.takeTurns(response.req);
      response.req.resume();
      return;
    }
    this.socket.pause();
    // The turn comes in the async context of an earlier request.
    const scope = new AsyncResource('ApiRequest');
    this.waiting.push(() => {
      this.waitingBytes -= bytes;
      this.waitingChunked -= chunked;
      this.account();
      scope.runInAsyncScope(() => {
        this.start(response, handle);
      });
    });
  }

  private finish(): void {
    const wasUnread = this.unread !== undefined;
    this.current = undefined;
    if (this.waiting.length === 0) this.readBefore = this.socket.bytesRead;
    this.hold(0);
    this.release();
    // A request after a response that closes the connection gets no response (RFC 9112, 9.6).
    if (!this.socket.writable) {
      this.close();
      return;
    }
    if (wasUnread && this.waiting.length > 0) this.socket.setTimeout(IDLE_MS);
    // Deferred, so that other connections get their turn.
    if (this.waiting.length > 0)
      setImmediate(() => {
        this.next();
      });
    else this.next();
  }

  private next(): void {
    this.waiting.shift()?.();
    this.refuseRest();
    this.resume();
  }

  private awaitTurn(): void {
    // What has been read before still arrives.
    if (this.awaitsTurn) return;
    this.awaitsTurn = true;
    this.socket.pause();
    void turns.next().then(() => {
      this.awaitsTurn = false;
      this.resume();
    });
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

  private get mustWait(): boolean {
    // The rest of a rejected request is read and dropped: closing with unread input would reset the connection, and the
    // client could miss the error (RFC 9112, 9.6).
    const isErrorPending = this.error !== undefined && this.current?.req.complete === true;
    return this.awaitsTurn || this.waiting.length > 0 || this.unread !== undefined || isErrorPending;
  }

  /** Node resumes the socket to read a body, and after a response has been read. */
  private keepPaused(): void {
    if (!this.mustWait) return;
    // Paused between resume() and this event: Node reads anyway, and another pause() has no effect. Resuming emits the
    // event again.
    if (this.socket.isPaused()) this.socket.resume();
    else this.socket.pause();
  }

  private close(): void {
    this.isClosing = true;
    this.waiting.length = 0;
    this.waitingBytes = 0;
    this.currentBytes = 0;
    this.account();
    this.release();
  }

  /** Releases the current response. */
  private release(): void {
    if (this.unread !== undefined) this.budget.leave(this.unread, this);
    this.unread = undefined;
  }

  private account(): void {
    const bytes = this.currentBytes + this.waitingBytes + this.waitingBodyBytes;
    this.budget.set(this, this.socket.destroyed ? 0 : bytes);
  }

  /**
   * What Node.js holds of the bodies of waiting requests at most. Counts only bytes that the client has sent: otherwise,
   * one that sends little could have the connections of others closed.
   */
  private get waitingBodyBytes(): number {
    if (this.waitingBytes === 0) return 0;
    const bytes = Math.min(this.socket.bytesRead - this.readBefore, READ_BYTES);
    return this.waitingChunked > 0 ? CHUNKED_BYTE * bytes : bytes;
  }
}
