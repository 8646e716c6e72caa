import { FailedAttempts } from './failed-attempts.js';

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
