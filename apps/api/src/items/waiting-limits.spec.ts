import { WaitingLimits } from './waiting-limits.js';

const MIB = 1024 * 1024;

/** Returns how many requests of a seller there is room for. */
function fill(limits: WaitingLimits, seller: string, bytes: number): number {
  for (let count = 0; ; count++) if (limits.enter(seller, bytes) !== undefined) return count;
}

describe('the limits of waiting creates', () => {
  it('the limits of waiting creates give one seller half of the requests and bytes, and always leave room for others', () => {
    expect(fill(new WaitingLimits(true), 'a', 1)).toBe(5000);
    const limits = new WaitingLimits(true);
    expect(['a', 'b', 'c'].map((seller) => fill(limits, seller, MIB))).toEqual([32, 16, 8]);
    expect(limits.enter('a', MIB)).toBe('seller');
    expect(limits.enter('d', MIB)).toBeUndefined();
  });

  it('the limits of waiting creates give a seller room again when its creates no longer wait', () => {
    const limits = new WaitingLimits(true);
    expect(fill(limits, 'a', MIB)).toBe(32);
    limits.leave('a', MIB);
    expect(fill(limits, 'a', MIB)).toBe(1);
  });

  it('the limits of waiting creates apply only to the whole process without fair shares', () => {
    const limits = new WaitingLimits(false);
    expect(fill(limits, 'a', MIB)).toBe(64);
    expect(limits.enter('b', MIB)).toBe('process');
  });
});
