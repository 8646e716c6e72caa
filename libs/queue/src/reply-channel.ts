import { randomUUID } from 'node:crypto';
import type { CreateReply } from '@app/contracts';
import { EventLoopTurns, splitByBytes } from '@app/runtime';
import { keyPrefix } from './queue-settings.js';
import { reconnectIfUnresponsive, reportRefusal, type RedisConnection, type Report } from './redis.js';

const SUBSCRIBE_AGAIN_MS = 1000;
/**
 * An API instance does nothing else while it handles a message. Smaller messages delay its reads less, but cost more.
 * Redis would also disconnect a subscriber whose output buffer grows too large.
 */
const MAX_MESSAGE_BYTES = 32 * 1024;

/**
 * The channel on which workers send the outcomes of creates to one API instance. It only makes responses faster: if a
 * message is lost, the API finds the outcome in MongoDB.
 */
export class ReplySubscriber {
  readonly channel: string;
  private readonly turns = new EventLoopTurns(1);
  private checks: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisConnection,
    queuePrefix: string,
    private readonly report: Report = () => undefined,
  ) {
    this.channel = `${keyPrefix(queuePrefix)}:reply:${randomUUID()}`;
  }

  /** Calls `onReply` for each reply, also after a reconnect. Handles one message in each turn of the event loop. */
  listen(onReply: (reply: CreateReply) => void): void {
    this.redis.on('message', (_channel: string, message: string) => {
      void this.turns.next().then(() => {
        for (const reply of parse(message)) onReply(reply);
      });
    });
    const subscribe = (): void => {
      if (this.redis.status !== 'ready') return;
      // Redis may refuse, for example because of an ACL. After a lost connection, `ready` subscribes again anyway.
      const subscribing = reportRefusal(this.redis.subscribe(this.channel), this.report);
      subscribing.catch(() => setTimeout(subscribe, SUBSCRIBE_AGAIN_MS).unref());
    };
    this.redis.on('ready', subscribe);
    subscribe();
    // Goes through the connection that receives the replies, which has no other use in a Cluster.
    this.checks = reconnectIfUnresponsive(this.redis, () => this.redis.subscribe(this.channel));
  }

  close(): void {
    clearInterval(this.checks);
    this.redis.disconnect();
  }
}

/** Ignores what it does not understand, for example replies from a worker of another version. */
function parse(message: string): CreateReply[] {
  try {
    return (JSON.parse(message) as unknown[]).filter(isReply);
  } catch {
    return [];
  }
}

/** Does not parse the item, because that takes long. The worker has done it. */
function isReply(reply: unknown): reply is CreateReply {
  const { id, outcome } = (reply ?? {}) as { id?: unknown; outcome?: UnknownOutcome | null };
  if (typeof id !== 'string') return false;
  if (outcome?.kind === 'failed') return true;
  return outcome?.kind === 'created' && typeof outcome.requestHash === 'string' && outcome.item?.id === id;
}

interface UnknownOutcome {
  kind?: unknown;
  requestHash?: unknown;
  item?: { id?: unknown } | null;
}

/** The worker side of the reply channels. */
export class ReplyPublisher {
  constructor(
    private readonly redis: RedisConnection,
    private readonly report: Report = () => undefined,
  ) {}

  /** Sends replies to the waiting instance in messages of limited size. A lost message is not an error. */
  async publish(channel: string, replies: readonly CreateReply[]): Promise<void> {
    const texts = replies.map((reply) => JSON.stringify(reply));
    const parts = splitByBytes(texts, (text) => Buffer.byteLength(text), MAX_MESSAGE_BYTES);
    const publish = (part: string[]): Promise<unknown> => this.redis.publish(channel, `[${part.join(',')}]`);
    await Promise.allSettled(parts.map((part) => reportRefusal(publish(part), this.report)));
  }
}
