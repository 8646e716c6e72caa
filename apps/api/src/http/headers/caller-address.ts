import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import { trustedProxies, type ApiConfig } from '@app/runtime';

/** Returns the address of the client that sent a request, according to the trusted proxies. */
export type CallerAddress = (request: IncomingMessage) => string;

/**
 * Trusts the `X-Forwarded-For` of this many proxies, or of these addresses and networks. Where it is not an IP address,
 * the address of the socket counts.
 */
export function callerAddress(trusted: ApiConfig['trustProxy']): CallerAddress {
  const trusts = trustedProxies(trusted);
  return (request) => {
    const address = proxyAddr(request, trusts);
    return isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address;
  };
}
