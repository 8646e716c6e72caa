import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import { trustedProxies, type ApiConfig } from '@app/runtime';

/** Returns the address of the client that sent a request, according to the trusted proxies. */
export type CallerAddress = (request: IncomingMessage) => string;

/** An IPv4 address, or an IPv6 address in brackets, and optionally a port. */
const ADDRESS_AND_PORT = /^(?:\[([^\]]*)\]|([^:]*))(?::\d+)?$/;

/**
 * Trusts the `X-Forwarded-For` of this many proxies, or of these addresses and networks. Ignores ports in it, which
 * Azure's Application Gateway adds. Where it is not an IP address, the address of the socket counts.
 */
export function callerAddress(trusted: ApiConfig['trustProxy']): CallerAddress {
  const trusts = trustedProxies(trusted);
  return (request) => {
    const address = withoutPort(proxyAddr(request, (proxy, hop) => trusts(withoutPort(proxy), hop)));
    return isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address;
  };
}

function withoutPort(address: string): string {
  const [, ipv6, ipv4 = address] = ADDRESS_AND_PORT.exec(address) ?? [];
  return ipv6 ?? ipv4;
}
