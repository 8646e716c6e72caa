import {
  connectRedis,
  isWrongValue,
  redisResponds,
  reportRefusal,
  untilReady,
  type RedisConnection,
  type Report,
} from '@app/queue';
import { ApiError } from '../http/api-error.js';

/** After a failure, Redis is left alone for this time, so that a Redis that does not reply delays few requests. */
const UNAVAILABLE_MS = 1000;

/** The Redis in which all instances count. */
export class LimitsRedis {
  readonly connection: RedisConnection;
  private unavailableUntil = 0;

  constructor(
    url: string,
    private readonly report: Report,
  ) {
    this.connection = connectRedis(url, 'limiter', report);
  }

  /** Whether a command has just failed. */
  get isUnavailable(): boolean {
    return performance.now() < this.unavailableUntil;
  }

  /**
   * Sends a command for one key, and returns its reply. Returns undefined if Redis is unavailable or refuses the command.
   */
  async send<Reply>(key: string, command: (redis: RedisConnection) => Promise<Reply>): Promise<Reply | undefined> {
    if (this.isUnavailable) return undefined;
    try {
      return await this.sendOrRepair(key, () => reportRefusal(command(this.connection), this.report));
    } catch {
      this.unavailableUntil = performance.now() + UNAVAILABLE_MS;
      return undefined;
    }
  }

  /** If another program has written a value that the command cannot use, deletes the value and sends the command again. */
  private async sendOrRepair<Reply>(key: string, send: () => Promise<Reply>): Promise<Reply> {
    try {
      return await send();
    } catch (error) {
      if (!isWrongValue(error)) throw error;
      await this.connection.del(key);
      return send();
    }
  }

  /** Resolves once Redis can be reached. */
  waitUntilReady(): Promise<void> {
    return untilReady(this.connection);
  }

  /** Returns whether Redis responds in time. */
  responds(withinMs: number): Promise<boolean> {
    return redisResponds(this.connection, withinMs);
  }

  disconnect(): void {
    this.connection.disconnect();
  }
}

/** Returns the error for a create that cannot be counted because Redis is unavailable. */
export function notCounted(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', {
    message: 'Rate limits cannot be checked at the moment, nothing was created: try again',
    headers: { 'Retry-After': '1' },
  });
}
