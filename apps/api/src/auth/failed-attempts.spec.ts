import { FailedAttempts, networkOf } from './failed-attempts.js';

describe('the network of an address', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['::1', '0:0:0:0'],
    ['', ''],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('failed attempts', () => {
  it('are limited for each network', () => {
    const attempts = new FailedAttempts();
    for (let count = 0; count < 20; count++) {
      attempts.check('2001:db8::1');
      attempts.add(`2001:db8::${String(count)}`);
    }
    expect(() => {
      attempts.check('2001:db8::ffff');
    }).toThrow('Too many invalid credentials');
    expect(() => {
      attempts.check('2001:db8:0:1::1');
    }).not.toThrow();
  });
});
