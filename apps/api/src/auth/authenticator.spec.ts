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

  /** Sends different tokens at the same time. Counts their outcomes: `valid`, or the code of an error. */
  async function send(count: number, outcomes: Record<string, number> = {}): Promise<Record<string, number>> {
    const sending = Array.from({ length: count }, async (_, index) => {
      const authorization = `Bearer token-${String(index)}`;
      const request = { headers: { authorization }, rawHeaders: ['Authorization', authorization] };
      const authenticating = authenticator.authenticate(request as IncomingMessage);
      const outcome = await authenticating.then(
        () => 'valid',
        (error: unknown) => (error as ApiError).code,
      );
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
});
