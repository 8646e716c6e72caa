import type { IncomingMessage } from 'node:http';
import { callerAddress } from './caller-address.js';

describe('callerAddress', () => {
  const addressOf = (trusted: number | string[], forwarded: string): string =>
    callerAddress(trusted)({
      headers: { 'x-forwarded-for': forwarded },
      socket: { remoteAddress: '127.0.0.1' },
    } as unknown as IncomingMessage);

  it.each([
    ['203.0.113.7:49152', '203.0.113.7'],
    ['[2001:db8::7]:49152', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['2001:db8::7', '2001:db8::7'],
    ['2001:db8::7:443', '2001:db8::7:443'],
  ])('the address of a caller has no port: %s', (forwarded, address) => {
    expect(addressOf(1, forwarded)).toBe(address);
  });

  it('the address of a trusted proxy is recognized even if a port follows it', () => {
    const forwarded = '198.51.100.1:1, 203.0.113.7:2, 10.1.2.3:4, [fd00::1]:5';
    expect(addressOf(['loopback', '10.0.0.0/8', 'fd00::/8'], forwarded)).toBe('203.0.113.7');
  });

  it.each(['203.0.113.7:', '203.0.113.7:80:80', '[203.0.113.7', 'unknown:80', ':80', '[]:80', ''])(
    'the address of a caller is that of its socket if a proxy sends %j',
    (forwarded) => {
      expect(addressOf(1, forwarded)).toBe('127.0.0.1');
    },
  );
});
