import { Rejects } from './rejects.js';

describe('Rejects', () => {
  it('a rejected line is shown on one line of its own, with its control characters escaped', async () => {
    const rejects = await Rejects.open(undefined, '-');
    const reasons = [{ path: ['a\u009Bb'], message: 'Not \u001B[31mright' }];
    await rejects.add([{ number: 2, text: 'one\nline 9: two\r\u001B]0;title\u0007', reasons }]);
    expect(rejects.shown()).toEqual([
      'line 2: a\\u009bb: Not \\u001b[31mright in one\\u000aline 9: two\\u000d\\u001b]0;title\\u0007',
    ]);
  });
});
