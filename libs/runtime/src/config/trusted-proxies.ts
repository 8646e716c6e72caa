import proxyAddr from 'proxy-addr';

/** Returns whether a proxy is trusted, by its address and its distance in hops. 0 is the peer of the connection. */
export type TrustsProxy = (address: string, hop: number) => boolean;

/** @param trusted a number of proxies in a row, or their addresses and networks. Empty means none. */
export function trustedProxies(trusted: number | string[]): TrustsProxy {
  return typeof trusted === 'number' ? (_address, hop) => hop < trusted : proxyAddr.compile(trusted);
}
