import { isDatabaseUnavailable } from './database-errors.js';

describe('isDatabaseUnavailable', () => {
  it.each(['EPIPE', 'ECONNRESET'])('returns true for the %s of a socket, which the driver passes on', (code) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('This socket has been ended'), { code }))).toBe(true);
  });

  it.each([new Error('a bug'), Object.assign(new Error('a bug'), { code: 'ERR_INVALID_ARG_TYPE' }), undefined])(
    'returns false for other errors: %s',
    (error) => {
      expect(isDatabaseUnavailable(error)).toBe(false);
    },
  );
});
