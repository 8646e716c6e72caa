import type { IncomingMessage } from 'node:http';
import { ApiError } from '../http/api-error.js';
import { InvalidCredential, UnknownKey } from './auth-errors.js';
import { Authenticator } from './authenticator.js';
import type { Principal } from './principal.js';

const ADDRESS = '198.51.100.1';
const PRINCIPAL: Principal = { id: 'jwt:alice', scopes: [], expiresAt: Infinity };

describe('an authenticator', () => {
  const verify = jest.fn<Promise<Principal>, [string, number?]>();
  let authenticator: Authenticator;

  beforeEach(() => {
    verify.mockReset();
    authenticator = new Authenticator({ jwt: { verify }, apiKeys: undefined }, () => ADDRESS);
    // On a busy machine, 200 turns may take longer than a credential waits.
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  /** Sends a credential. Returns its outcome: `valid`, or the code of an error. */
  async function sendOne(token: string): Promise<string> {
    const authorization = `Bearer ${token}`;
    const request = { headers: { authorization }, rawHeaders: ['Authorization', authorization] };
    return authenticator.authenticate(request as IncomingMessage).then(
      () => 'valid',
      (error: unknown) => (error as ApiError).code,
    );
  }
  /** Sends different tokens at the same time. Counts their outcomes. */
  async function send(count: number, outcomes: Record<string, number> = {}): Promise<Record<string, number>> {
    const sending = Array.from({ length: count }, async (_, index) => {
      const outcome = await sendOne(`token-${String(index)}`);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    });
    await Promise.all(sending);
    return outcomes;
  }
  const failWith = (error: Error): void => {
    verify.mockImplementation(() => new Promise((_, reject) => setImmediate(reject, error)));
  };

  it('an authenticator verifies at most 20 invalid credentials of an address, however many come at the same time', async () => {
    failWith(new InvalidCredential('invalid'));
    expect(await send(200)).toEqual({ UNAUTHORIZED: 20, TOO_MANY_REQUESTS: 180 });
    expect(verify).toHaveBeenCalledTimes(20);
  });

  it('an authenticator accepts all valid credentials of an address, however many come at the same time', async () => {
    verify.mockImplementation(() => new Promise((resolve) => setImmediate(resolve, PRINCIPAL)));
    expect(await send(200)).toEqual({ valid: 200 });
  });

  it.each([
    ['an unknown key', new UnknownKey('unknown'), 'UNAUTHORIZED'],
    ['a store that is unavailable', new ApiError('SERVICE_UNAVAILABLE'), 'SERVICE_UNAVAILABLE'],
  ])('an authenticator does not count %s as a failed attempt', async (_, error, code) => {
    failWith(error);
    expect(await send(50)).toEqual({ [code]: 50 });
  });

  it('an authenticator lets a credential wait for a second at most while those before it are verified', async () => {
    verify.mockReturnValue(new Promise(() => undefined));
    const outcomes: Record<string, number> = {};
    void send(50, outcomes);
    await jest.advanceTimersByTimeAsync(1000);
    expect(outcomes).toEqual({ SERVICE_UNAVAILABLE: 50 - verify.mock.calls.length });
    expect(verify.mock.calls.length).toBeLessThan(20);
  });

  it('an authenticator has one deadline for the wait of a credential and its verification', async () => {
    const arrivedAt = performance.now();
    verify.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 600, PRINCIPAL)));
    const sending = send(8);
    await jest.advanceTimersByTimeAsync(1200);
    expect(await sending).toEqual({ valid: 8 });
    expect(verify.mock.calls.map(([, deadline]) => deadline)).toEqual(
      Array.from({ length: 8 }, () => arrivedAt + 1500),
    );
  });

  describe('whose address is locked out', () => {
    const KEY = `ils_${'0'.repeat(43)}01wEkU`;
    const LONG = 'a'.repeat(12_000);

    /** Sends as many invalid credentials from the address as are verified. */
    const lockOut = (): Promise<string[]> =>
      Promise.all(Array.from({ length: 20 }, (_, index) => sendOne(`invalid-${String(index)}`)));

    beforeEach(() => {
      authenticator = new Authenticator({ jwt: { verify }, apiKeys: { verify } }, () => ADDRESS);
      verify.mockImplementation((token) =>
        token.startsWith('invalid') ? Promise.reject(new InvalidCredential('invalid')) : Promise.resolve(PRINCIPAL),
      );
    });

    it.each([
      ['a token', 'token'],
      ['an API key', KEY],
      ['a token of 12,000 characters', LONG],
    ])('an authenticator accepts %s for as long as it is sent every minute', async (_, token) => {
      expect(await sendOne(token)).toBe('valid');
      for (let minute = 0; minute < 10; minute++) {
        jest.advanceTimersByTime(59_999);
        await lockOut();
        expect(await sendOne('unknown')).toBe('TOO_MANY_REQUESTS');
        expect([minute, await sendOne(token)]).toEqual([minute, 'valid']);
      }
      jest.advanceTimersByTime(120_000);
      await lockOut();
      expect(await sendOne(token)).toBe('TOO_MANY_REQUESTS');
    });

    it('an authenticator verifies a token again after a minute, however often it is sent', async () => {
      for (let second = 0; second < 150; second++) {
        expect(await sendOne('token')).toBe('valid');
        jest.advanceTimersByTime(1000);
      }
      expect(verify).toHaveBeenCalledTimes(3);
    });

    it.each([
      ['a token', 'token'],
      ['an API key', KEY],
      ['a token of 12,000 characters', LONG],
    ])(
      'an authenticator limits %s again two minutes after it was last valid, however often it is sent',
      async (_, token) => {
        expect(await sendOne(token)).toBe('valid');
        jest.advanceTimersByTime(60_000);
        verify.mockRejectedValue(new InvalidCredential('revoked'));
        await lockOut();
        for (let second = 60; second < 120; second++) {
          expect(await sendOne(token)).toBe('UNAUTHORIZED');
          jest.advanceTimersByTime(1000);
        }
        await lockOut();
        expect(await sendOne(token)).toBe('TOO_MANY_REQUESTS');
      },
    );

    it('an authenticator does not accept a token after its expiry', async () => {
      verify.mockResolvedValue({ ...PRINCIPAL, expiresAt: Date.now() + 1000 });
      expect(await sendOne('token')).toBe('valid');
      verify.mockRejectedValue(new InvalidCredential('expired'));
      jest.advanceTimersByTime(999);
      expect(await sendOne('token')).toBe('valid');
      jest.advanceTimersByTime(1);
      expect(await sendOne('token')).toBe('UNAUTHORIZED');
    });

    it('an authenticator accepts an API key again after it could not be verified for a moment', async () => {
      expect(await sendOne(KEY)).toBe('valid');
      await lockOut();
      verify.mockRejectedValueOnce(new ApiError('SERVICE_UNAVAILABLE'));
      expect(await sendOne(KEY)).toBe('SERVICE_UNAVAILABLE');
      expect(await sendOne(KEY)).toBe('valid');
    });
  });
});
