import { randomUUID } from 'node:crypto';
import type { CreateReply } from '@app/contracts';
import { cutByBytes } from '@app/runtime';
import { keyPrefix } from './queue-settings.js';
import type { RedisConnection } from './redis.js';

const SUBSCRIBE_AGAIN_MS = 1000;
/** Redis drops a subscriber whose output buffer grows too large, and a message holds up its API until all of it is answered. */
const MAX_MESSAGE_BYTES = 32 * 1024;

/**
 * The channel on which workers tell one API instance what became of its creates. It only makes
 * answers quick: a message that is missed is made up for by reading MongoDB.
 */
export class ReplySubscriber {
  readonly channel: string;

  constructor(
    private readonly redis: RedisConnection,
    queuePrefix: string,
  ) {
    this.channel = `${keyPrefix(queuePrefix)}:reply:${randomUUID()}`;
  }

  /** Calls `onReply` for each reply, now and after every reconnect. */
  listen(onReply: (reply: CreateReply) => void): void {
    this.redis.on('message', (_channel: string, message: string) => {
      for (const reply of parse(message)) onReply(reply);
    });
    const subscribe = (): void => {
      if (this.redis.status !== 'ready') return;
      // Refused, as by an ACL: a connection that is lost meanwhile is followed by another.
      this.redis.subscribe(this.channel).catch(() => setTimeout(subscribe, SUBSCRIBE_AGAIN_MS).unref());
    };
    this.redis.on('ready', subscribe);
    subscribe();
  }

  close(): void {
    this.redis.disconnect();
  }
}

/** What is not understood, as from a worker of another version, is as good as lost. */
function parse(message: string): CreateReply[] {
  try {
    const replies = JSON.parse(message) as CreateReply[];
    return replies.filter(({ outcome }) => outcome.kind === 'failed' || typeof outcome.requestHash === 'string');
  } catch {
    return [];
  }
}

/** The workers' end of the reply channels. */
export class ReplyPublisher {
  constructor(private readonly redis: RedisConnection) {}

  /** Tells the waiting instance, if it is still there, in messages of bounded size; a lost message is not an error. */
  async publish(channel: string, replies: readonly CreateReply[]): Promise<void> {
    const texts = replies.map((reply) => JSON.stringify(reply));
    const parts = cutByBytes(texts, (text) => Buffer.byteLength(text), MAX_MESSAGE_BYTES);
    await Promise.allSettled(parts.map((part) => this.redis.publish(channel, `[${part.join(',')}]`)));
  }

  close(): void {
    this.redis.disconnect();
  }
}
