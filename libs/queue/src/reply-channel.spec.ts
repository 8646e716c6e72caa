import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import type { RedisConnection } from './redis.js';
import { ReplySubscriber } from './reply-channel.js';

describe('ReplySubscriber', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  // PING would go to any other node of a Cluster.
  it.each([
    ['reconnects if Redis does not reply', () => new Promise(() => undefined), 1],
    ['does not reconnect if Redis replies', () => Promise.resolve(1), 0],
    ['does not reconnect if Redis refuses it', () => Promise.reject(new Error('NOPERM')), 0],
  ])('a subscriber checks its connection by subscribing again, and %s', async (_what, reply, times) => {
    const disconnect = jest.fn<undefined, [reconnect?: boolean]>();
    const subscribe = jest.fn().mockResolvedValueOnce(1).mockImplementation(reply);
    const redis = Object.assign(new EventEmitter(), { status: 'ready', subscribe, disconnect });
    const subscriber = new ReplySubscriber(redis as unknown as RedisConnection, 'test');
    subscriber.listen(() => undefined);
    await jest.advanceTimersByTimeAsync(14_000);
    expect(disconnect.mock.calls).toEqual(Array(times).fill([true]));
    subscriber.close();
  });

  it.each([1, 20])(
    'a subscriber lets other work run between messages that arrive at once (replies per message: %i)',
    async (size) => {
      jest.useRealTimers();
      const redis = Object.assign(new EventEmitter(), { status: 'ready', subscribe: jest.fn(), disconnect: jest.fn() });
      redis.subscribe.mockResolvedValue(1);
      const subscriber = new ReplySubscriber(redis as unknown as RedisConnection, 'test');
      const handled: string[] = [];
      subscriber.listen(({ id }) => handled.push(id));
      const ids = Array.from({ length: 100 }, (_, index) => String(index));
      const replies = ids.map((id) => ({ id, outcome: { kind: 'failed' } }));
      for (let start = 0; start < replies.length; start += size)
        redis.emit('message', subscriber.channel, JSON.stringify(replies.slice(start, start + size)));
      const afterEachTurn: number[] = [];
      while (handled.length < ids.length) {
        await setImmediate();
        afterEachTurn.push(handled.length);
      }
      subscriber.close();
      expect(handled).toEqual(ids);
      expect(afterEachTurn[0]).toBeLessThan(50);
    },
  );
});
