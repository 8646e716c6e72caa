import { parseRedisUrl } from './redis-url.js';

describe('parseRedisUrl', () => {
  const single = { kind: 'single', tls: false, credentials: {}, host: 'h', port: 6379, db: 0 };
  it.each([
    ['redis://h', single],
    ['redis://h/', single],
    ['rediss://h:1/2', { ...single, tls: true, port: 1, db: 2 }],
    ['redis://[::1]:7000', { ...single, host: '::1', port: 7000 }],
    ['redis://:secret@h', { ...single, credentials: { password: 'secret' } }],
    ['redis://user@h', { ...single, credentials: { username: 'user' } }],
    [
      'redis://us%40er:p%2Fa%3Ass:w@h/15',
      { ...single, credentials: { username: 'us@er', password: 'p/a:ss:w' }, db: 15 },
    ],
  ])('a Redis URL may name a single server: %s', (url, address) => {
    expect(parseRedisUrl(url)).toEqual(address);
  });

  it('a Redis URL may name Sentinels and their primary', () => {
    expect(parseRedisUrl('redis+sentinel://:secret@a,b:7000/main/3')).toEqual({
      kind: 'sentinel',
      tls: false,
      credentials: { password: 'secret' },
      sentinels: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 7000 },
      ],
      sentinelCredentials: {},
      master: 'main',
      db: 3,
    });
  });

  it.each([
    ['sentinelPassword=a+b%2B', { password: 'a+b+' }],
    ['sentinelUsername=us%40er&sentinelPassword=secret', { username: 'us@er', password: 'secret' }],
  ])('a Redis URL may have credentials of the Sentinels: %s', (query, sentinelCredentials) => {
    expect(parseRedisUrl(`rediss+sentinel://a/main?${query}`)).toMatchObject({ credentials: {}, sentinelCredentials });
  });

  it('a Redis URL may name nodes of a Cluster', () => {
    expect(parseRedisUrl('rediss+cluster://a:1,b')).toEqual({
      kind: 'cluster',
      tls: true,
      credentials: {},
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 6379 },
      ],
    });
  });

  it.each([
    'redis://',
    'redis:///0',
    'redis://:6379',
    'redis://secret:port',
    'redis://secret:0',
    'redis://secret:65536',
    'redis://secret:1:2',
    'redis://secret,secret',
    'redis://secret/db',
    'redis://secret/0/1',
    'redis://secret/-1',
    'redis://secret/0?family=6',
    'redis://user:se@cret@h',
    'redis://user:%zzsecret@h',
    'redis+sentinel://secret',
    'redis+sentinel://secret/',
    'redis+sentinel://secret/main/db',
    'redis+sentinel://secret/main?',
    'redis+sentinel://secret/main?password=secret',
    'redis+sentinel://secret/main?sentinelPassword=%zzsecret',
    'redis+sentinel://secret/main?sentinelPassword=secret#',
    'redis+cluster://secret/1',
    'redis+cluster://secret?sentinelPassword=secret',
    'redis+proxy://secret',
    'http://secret',
  ])('parseRedisUrl rejects %s with the expected form, and does not show the URL', (url) => {
    const parse = (): unknown => parseRedisUrl(url);
    expect(parse).toThrow(/^REDIS_URL is not valid: it must be redis\[s\]:\/\/\S/);
    expect(parse).not.toThrow(/secret|cret/);
  });

  it('parseRedisUrl names the setting that is not valid', () => {
    expect(() => parseRedisUrl('http://a', 'OTHER_URL')).toThrow(/^OTHER_URL is not valid/);
  });
});
