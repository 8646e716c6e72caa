import { EXPIRED, Limiter } from './limiter.js';

const NEVER = new Promise<void>(() => undefined);

/** Creates a task that runs until `end` is called. */
function openTask(): { task: () => Promise<string>; end: () => void; hasBegun: () => boolean } {
  let begun = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const task = async (): Promise<string> => {
    begun = true;
    await ended;
    return 'result';
  };
  return {
    task,
    end: () => {
      end();
    },
    hasBegun: () => begun,
  };
}

const inMs = (ms: number): { deadline: number; cancelled: Promise<void> } => ({
  deadline: performance.now() + ms,
  cancelled: NEVER,
});

describe('Limiter', () => {
  it('a limiter runs a task immediately while there is room, even past its deadline', async () => {
    expect(await new Limiter(1).run(() => Promise.resolve('result'), inMs(-1))).toBe('result');
  });

  it('a limiter runs waiting tasks in the order in which they arrived', async () => {
    const limiter = new Limiter(1);
    const [first, second, third] = [openTask(), openTask(), openTask()];
    const results = [first, second, third].map(({ task }) => limiter.run(task, inMs(10_000)));
    expect([first, second, third].map(({ hasBegun }) => hasBegun())).toEqual([true, false, false]);
    first.end();
    await results[0];
    expect([second, third].map(({ hasBegun }) => hasBegun())).toEqual([true, false]);
    second.end();
    third.end();
    expect(await Promise.all(results)).toEqual(['result', 'result', 'result']);
  });

  it('a limiter runs tasks up to the limit by their weight, and a larger one alone', async () => {
    const limiter = new Limiter(5);
    const tasks = [2, 3, 9, 1, 4].map((weight) => ({ ...openTask(), weight }));
    const results = tasks.map(({ task, weight }) => limiter.run(task, { ...inMs(10_000), weight }));
    const begun = (): number[] => tasks.filter(({ hasBegun }) => hasBegun()).map(({ weight }) => weight);
    const endNext = async (): Promise<void> => {
      tasks.shift()?.end();
      await results.shift();
    };
    expect(begun()).toEqual([2, 3]);
    await endNext();
    expect(begun()).toEqual([3]);
    await endNext();
    expect(begun()).toEqual([9]);
    await endNext();
    expect(begun()).toEqual([1, 4]);
    await endNext();
    await endNext();
  });

  it('a limiter runs the tasks after a large one that has waited too long', async () => {
    const limiter = new Limiter(2);
    const [running, large, next] = [openTask(), openTask(), openTask()];
    const result = limiter.run(running.task, inMs(10_000));
    const expired = limiter.run(large.task, { ...inMs(20), weight: 2 });
    const following = limiter.run(next.task, inMs(10_000));
    expect(await expired).toBe(EXPIRED);
    expect([large, next].map(({ hasBegun }) => hasBegun())).toEqual([false, true]);
    running.end();
    next.end();
    expect(await Promise.all([result, following])).toEqual(['result', 'result']);
  });

  it('a limiter does not run a task whose deadline passes before its turn', async () => {
    const limiter = new Limiter(1);
    const [running, late, next] = [openTask(), openTask(), openTask()];
    const result = limiter.run(running.task, inMs(10_000));
    expect(await limiter.run(late.task, inMs(20))).toBe(EXPIRED);
    const following = limiter.run(next.task, inMs(10_000));
    running.end();
    next.end();
    expect(await Promise.all([result, following])).toEqual(['result', 'result']);
    expect(late.hasBegun()).toBe(false);
  });

  it('a limiter does not run a task whose result is no longer wanted', async () => {
    const limiter = new Limiter(1);
    const [running, abandoned] = [openTask(), openTask()];
    const result = limiter.run(running.task, inMs(10_000));
    expect(await limiter.run(abandoned.task, { ...inMs(10_000), cancelled: Promise.resolve() })).toBe(EXPIRED);
    running.end();
    expect(await result).toBe('result');
    expect(abandoned.hasBegun()).toBe(false);
  });

  describe('while tasks are late', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });
    const begun = (tasks: { hasBegun: () => boolean }[]): number => tasks.filter(({ hasBegun }) => hasBegun()).length;
    const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

    it('a limiter runs others instead of late tasks every 100 ms, up to its maximum', async () => {
      const limiter = new Limiter(2, 5);
      const tasks = Array.from({ length: 8 }, openTask);
      const results = tasks.map(({ task }) => limiter.run(task));
      const counts = [begun(tasks)];
      for (let waited = 0; waited < 4; waited++) {
        await jest.advanceTimersByTimeAsync(100);
        counts.push(begun(tasks));
      }
      tasks[0]?.end();
      await nextTurn();
      counts.push(begun(tasks));
      expect(counts).toEqual([2, 4, 5, 5, 5, 6]);
      for (const { end } of tasks) end();
      expect(await Promise.all(results)).toHaveLength(8);
    });

    it.each([0.01, 0.02, 0.03, 0.04])(
      'a limiter runs a task that begins to wait while another one becomes late (%d ms before)',
      async (before) => {
        const limiter = new Limiter(1, 2);
        const tasks = [openTask(), openTask()] as const;
        void limiter.run(tasks[0].task);
        let time = performance.now() + 100 - before;
        const clock = jest.spyOn(performance, 'now').mockImplementation(() => (time += 0.015));
        void limiter.run(tasks[1].task);
        await jest.advanceTimersByTimeAsync(1);
        expect(tasks[1].hasBegun()).toBe(true);
        clock.mockRestore();
      },
    );

    it('a limiter runs no others instead of late tasks if it has no maximum of its own', async () => {
      const limiter = new Limiter(2);
      const tasks = Array.from({ length: 3 }, openTask);
      for (const { task } of tasks) void limiter.run(task);
      await jest.advanceTimersByTimeAsync(1000);
      expect(begun(tasks)).toBe(2);
    });

    it('a limiter runs no others instead of tasks that hold memory, even if they were late before', async () => {
      const limiter = new Limiter(1, 5);
      const holding = new Map<string, () => void>();
      const tasks = ['a', 'b', 'c', 'd'].map((name) => {
        const { task, ...others } = openTask();
        const run = (hold: () => void): Promise<string> => {
          holding.set(name, hold);
          return task();
        };
        return { run, ...others };
      });
      for (const { run } of tasks) void limiter.run(run);
      await jest.advanceTimersByTimeAsync(100);
      expect(begun(tasks)).toBe(2);
      holding.get('a')?.();
      holding.get('b')?.();
      await jest.advanceTimersByTimeAsync(1000);
      expect(begun(tasks)).toBe(2);
      tasks[0]?.end();
      await nextTurn();
      expect(begun(tasks)).toBe(2);
      tasks[1]?.end();
      await nextTurn();
      expect(begun(tasks)).toBe(3);
    });
  });

  it('a limiter continues after a task that fails', async () => {
    const limiter = new Limiter(1);
    await expect(limiter.run(() => Promise.reject(new Error('failed')), inMs(10_000))).rejects.toThrow('failed');
    expect(await limiter.run(() => Promise.resolve('result'), inMs(10_000))).toBe('result');
  });
});
