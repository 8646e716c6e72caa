import { loadLimitsConfig } from './limits-config.js';

const REDIS = { REDIS_URL: 'redis://queue' };

describe('the settings of rate limits', () => {
  it('rate limits are off by default', () => {
    expect(loadLimitsConfig(REDIS)).toBeUndefined();
  });

  it('rate limits are counts per seconds', () => {
    const env = { RATE_LIMIT_CREATE: '100/60', RATE_LIMIT_BYTES: '2000000/1', RATE_LIMIT_CONCURRENT: '8' };
    expect(loadLimitsConfig({ ...REDIS, ...env })).toEqual({
      create: { count: 100, seconds: 60 },
      getAll: undefined,
      getById: undefined,
      bytes: { count: 2_000_000, seconds: 1 },
      concurrent: 8,
      redisUrl: 'redis://queue',
    });
  });

  it('rate limits may have a Redis of their own', () => {
    const env = { ...REDIS, RATE_LIMIT_GETALL: '1/1', RATE_LIMIT_REDIS_URL: 'redis://limits' };
    expect(loadLimitsConfig(env)?.redisUrl).toBe('redis://limits');
  });

  it.each(['100', '0/60', '100/0', '-1/60', '1.5/60', '100/60/2', '100 / 60', '100/86401', '1000000000001/60'])(
    'rate limits cannot be %s',
    (value) => {
      expect(() => loadLimitsConfig({ ...REDIS, RATE_LIMIT_CREATE: value })).toThrow(
        'RATE_LIMIT_CREATE is not valid: it must be a count per seconds such as 100/60',
      );
    },
  );

  it.each([
    [{ RATE_LIMIT_GETALL: 'x' }, 'RATE_LIMIT_GETALL is not valid'],
    [{ RATE_LIMIT_GETBYID: 'x' }, 'RATE_LIMIT_GETBYID is not valid'],
    [{ RATE_LIMIT_CONCURRENT: '0' }, 'RATE_LIMIT_CONCURRENT is not valid: it must be a whole number from 1'],
    [{ RATE_LIMIT_BYTES: '1048575/60' }, 'RATE_LIMIT_BYTES is not valid: its count must be at least MAX_BODY_BYTES'],
    [{ RATE_LIMIT_CREATE: '1/1', RATE_LIMIT_REDIS_URL: 'http://limits' }, 'RATE_LIMIT_REDIS_URL is not valid'],
    [{ RATE_LIMIT_REDIS_URL: 'redis://limits' }, 'RATE_LIMIT_REDIS_URL is set, but no limit is'],
  ])('the settings of rate limits are rejected if they have no meaning: %j', (env, message) => {
    expect(() => loadLimitsConfig({ ...REDIS, ...env })).toThrow(message);
  });
});
