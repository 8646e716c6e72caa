import { MemoryBudget } from './memory-budget.js';

describe('MemoryBudget', () => {
  const cut: string[] = [];
  const client = (name: string): { cutOff: () => void } => ({ cutOff: () => cut.push(name) });
  beforeEach(() => {
    cut.length = 0;
  });

  it('a memory budget cuts off the clients that have held memory the longest, and no more than necessary', () => {
    const budget = new MemoryBudget(100);
    const [first, second, third] = [client('first'), client('second'), client('third')];
    budget.set(first, 10);
    budget.set(second, 80);
    budget.set(first, 20);
    expect(cut).toEqual([]);
    budget.set(third, 15);
    expect(cut).toEqual(['first']);
    budget.set(third, 30);
    expect(cut).toEqual(['first', 'second']);
  });

  it('a memory budget counts a client that has released all its memory as new', () => {
    const budget = new MemoryBudget(100);
    const [first, second, third] = [client('first'), client('second'), client('third')];
    budget.set(first, 60);
    budget.set(second, 30);
    budget.set(first, 0);
    budget.set(first, 60);
    budget.set(third, 20);
    expect(cut).toEqual(['second']);
  });

  it('a memory budget counts once what several clients hold together, until the last one has released it', () => {
    const budget = new MemoryBudget(100);
    const [page, other] = [{}, {}];
    const [first, second, third] = [client('first'), client('second'), client('third')];
    budget.share(page, first, 60);
    budget.share(page, second, 60);
    budget.leave(page, first);
    budget.leave(page, first);
    budget.share(page, first, 50);
    expect(cut).toEqual([]);
    budget.set(third, 50);
    expect(cut).toEqual(['second', 'first']);
    budget.leave(page, first);
    budget.leave(page, second);
    budget.share(other, second, 50);
    expect(cut).toEqual(['second', 'first']);
    budget.leave(other, second);
    budget.share(page, first, 50);
    expect(cut).toEqual(['second', 'first']);
  });

  it('a memory budget cuts off a client that exceeds it alone', () => {
    const budget = new MemoryBudget(100);
    budget.set(client('only'), 101);
    expect(cut).toEqual(['only']);
  });
});
