import { InvalidCredential } from './auth-errors.js';
import { FailedAttempts } from './failed-attempts.js';

describe('failed attempts', () => {
  it('failed attempts are limited for each network', async () => {
    const attempts = new FailedAttempts();
    const fail = (address: string): Promise<never> =>
      attempts.limit(address, () => Promise.reject(new InvalidCredential('invalid')));
    for (let count = 0; count < 20; count++)
      await expect(fail(`2001:db8::${String(count)}`)).rejects.toThrow('invalid');
    await expect(fail('2001:db8::ffff')).rejects.toThrow('Too many invalid credentials');
    await expect(fail('2001:db8:0:1::1')).rejects.toThrow('invalid');
  });
});
