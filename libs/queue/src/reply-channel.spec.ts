import { EventEmitter } from 'node:events';
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
});
