import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import proxyAddr from 'proxy-addr';
import type { ApiConfig } from '@app/runtime';

/** Who sent a request, as far as trusted proxies say. */
export type CallerAddress = (request: IncomingMessage) => string;

/** Believes the `X-Forwarded-For` of so many proxies in a row, or of these addresses and networks; what is no address is not believed. */
export function callerAddress(trusted: ApiConfig['trustProxy']): CallerAddress {
  const trusts =
    typeof trusted === 'number' ? (_address: string, hop: number) => hop < trusted : proxyAddr.compile(trusted);
  return (request) => {
    const address = proxyAddr(request, trusts);
    return isIP(address) === 0 ? (request.socket.remoteAddress ?? '') : address;
  };
}
