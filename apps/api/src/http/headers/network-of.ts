import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The groups of an IPv6 address that identify a customer's network: /64. */
const NETWORK_GROUPS = 4;

/** Returns an IPv4 address, or the network of an IPv6 address: a customer usually has all addresses of a /64. */
export function networkOf(address: string): string {
  if (isIPv4(address) || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return parsed.parts
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16))
    .join(':');
}
