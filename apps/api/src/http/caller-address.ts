import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import type { ApiConfig } from '@app/runtime';

/** Returns the address of the client that sent a request, according to the trusted proxies. */
export type CallerAddress = (request: IncomingMessage) => string;

/**
 * Trusts the `X-Forwarded-For` of this many proxies, or of these addresses and networks. Where it is not an IP address,
 * the address of the socket counts.
 */
export function callerAddress(trusted: ApiConfig['trustProxy']): CallerAddress {
  const trusts =
    typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : proxyAddr.compile(trusted);
  return (request) => {
    const address = proxyAddr(request, trusts);
    return isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address;
  };
}
