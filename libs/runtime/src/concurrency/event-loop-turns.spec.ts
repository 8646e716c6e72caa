import { EventLoopTurns } from './event-loop-turns.js';

describe('EventLoopTurns', () => {
  it('each turn of the event loop lets only a few callers continue, in the order of their calls', async () => {
    const turns = new EventLoopTurns(2);
    const order: string[] = [];
    const calls = [1, 2, 3, 4, 5].map((call) => turns.next().then(() => order.push(`call ${String(call)}`)));
    const otherWork = (): void => {
      order.push('other work');
      if (order.length < 8) setImmediate(otherWork);
    };
    setImmediate(otherWork);
    await Promise.all(calls);
    expect(order).toEqual(['call 1', 'call 2', 'other work', 'call 3', 'call 4', 'other work', 'call 5']);
  });

  it('callers that come later continue in later turns of the event loop', async () => {
    const turns = new EventLoopTurns(1);
    await turns.next();
    await Promise.all([turns.next(), turns.next()]);
    await expect(turns.next()).resolves.toBeUndefined();
  });
});
