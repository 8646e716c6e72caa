import { LogDestination, MAX_WAITING } from './log-destination.js';

describe('LogDestination', () => {
  let written: string[];
  /** Completes the current write. */
  let complete: () => void;
  let destination: LogDestination;

  beforeEach(() => {
    written = [];
    const write = (text: string, done: () => void): void => {
      written.push(text);
      complete = done;
    };
    destination = new LogDestination({ write, writeSync: (text) => written.push(`${text} without waiting`) });
  });

  it('the log destination writes a line immediately, and those that come meanwhile together', () => {
    destination.write('1');
    destination.write('2');
    destination.write('3');
    expect(written).toEqual(['1']);
    complete();
    expect(written).toEqual(['1', '23']);
    complete();
    destination.write('4');
    expect(written).toEqual(['1', '23', '4']);
  });

  it('the log destination keeps a limited number of characters while the output is stalled, and goes on after it', () => {
    destination.write('first');
    const line = 'x'.repeat(MAX_WAITING / 4);
    for (let lines = 0; lines < 10; lines += 1) destination.write(line);
    complete();
    complete();
    destination.write('last');
    expect(written.map((text) => text.length)).toEqual([5, MAX_WAITING, 4]);
  });

  it('flush waits for all lines', () => {
    const flushed = jest.fn();
    destination.flush(flushed);
    expect(flushed).toHaveBeenCalledTimes(1);
    destination.write('1');
    destination.write('2');
    destination.flush(flushed);
    complete();
    expect(flushed).toHaveBeenCalledTimes(1);
    complete();
    expect(flushed).toHaveBeenCalledTimes(2);
  });

  it('end writes the waiting lines without waiting', () => {
    destination.write('1');
    destination.end();
    destination.write('2');
    destination.end();
    expect(written).toEqual(['1', '2 without waiting']);
  });
});
