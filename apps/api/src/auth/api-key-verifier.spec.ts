import type { ApiKey, ApiKeyRepository } from '@app/database';
import { TimeoutError } from '@app/runtime';
import { ApiKeyVerifier } from './api-key-verifier.js';

describe('ApiKeyVerifier', () => {
  const KEY = `ils_${'0'.repeat(43)}01wEkU`;
  const OTHER_KEY = `ils_${'1'.repeat(43)}3oq5JM`;
  const STORED: ApiKey = {
    id: '0123456789ab',
    owner: 'acme',
    scopes: ['items:create'],
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 86_400_000),
    revokedAt: null,
  };
  const findByKey = jest.fn<Promise<ApiKey | undefined>, [string, number]>();
  let verifier: ApiKeyVerifier;
  beforeEach(() => {
    findByKey.mockReset();
    verifier = new ApiKeyVerifier({ findByKey } as unknown as ApiKeyRepository);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('an API key is looked up once for calls that soon follow each other, whether or not it exists', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    findByKey.mockResolvedValueOnce(STORED).mockResolvedValueOnce(undefined);
    for (let call = 0; call < 2; call++) {
      expect(await verifier.verify(KEY)).toMatchObject({ id: 'key:acme' });
      await expect(verifier.verify(OTHER_KEY)).rejects.toThrow('does not exist');
    }
    expect(findByKey).toHaveBeenCalledTimes(2);
  });

  it('an API key is looked up again after a failure', async () => {
    findByKey.mockRejectedValueOnce(new TimeoutError('too late')).mockResolvedValueOnce(STORED);
    await expect(verifier.verify(KEY)).rejects.toThrow(TimeoutError);
    expect(await verifier.verify(KEY)).toMatchObject({ id: 'key:acme' });
  });

  it('an API key is looked up with the deadline of each caller while another look-up is pending', () => {
    findByKey.mockReturnValue(new Promise(() => undefined));
    void verifier.verify(KEY);
    const later = performance.now();
    void verifier.verify(KEY);
    expect(findByKey.mock.calls[1]?.[1]).toBeGreaterThanOrEqual(later + 1000);
  });

  it('an API key is looked up until the deadline of its caller if that is earlier', () => {
    findByKey.mockReturnValue(new Promise(() => undefined));
    const deadline = performance.now() + 500;
    void verifier.verify(KEY, deadline);
    expect(findByKey.mock.calls[0]?.[1]).toBe(deadline);
  });
});
