import { ConfigError } from '@app/runtime';
import type { RedisOptions } from 'ioredis';

/** The address of Redis, parsed from a `REDIS_URL`. */
export type RedisAddress = { tls: boolean; credentials: Pick<RedisOptions, 'username' | 'password'> } & (
  | { kind: 'single'; host: string; port: number; db: number }
  | { kind: 'sentinel'; sentinels: Endpoint[]; master: string; db: number }
  | { kind: 'cluster'; nodes: Endpoint[] }
);

export interface Endpoint {
  host: string;
  port: number;
}

const FORM =
  /^redis(?<tls>s)?(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<auth>[^@/]*)@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?$/;
const ENDPOINT = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<name>[^\s:[\]]+))(?::(?<port>\d{1,5}))?$/i;

const RULE =
  'redis[s]://[user:password@]host[:port][/db], redis[s]+sentinel://[user:password@]host[:port],…/master[/db] ' +
  'or redis[s]+cluster://[user:password@]host[:port],…, user and password percent-encoded';

/**
 * Parses a `REDIS_URL`, which has one of three forms:
 *
 * - a single server, `redis[s]://[user:password@]host[:port][/db]`
 * - Sentinel, `redis[s]+sentinel://[user:password@]host[:port],host[:port]…/master[/db]`
 * - Cluster, `redis[s]+cluster://[user:password@]host[:port],host[:port]…`
 *
 * @throws ConfigError if the URL is not valid. The message does not contain the URL, which may contain a password.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const { tls, kind, auth = '', hosts = '', path = '' } = FORM.exec(url)?.groups ?? refuse();
  const common = { tls: tls === 's', credentials: toCredentials(auth) };
  const segments = path.split('/').filter((segment) => segment !== '');
  if (kind === 'cluster') {
    if (segments.length > 0) refuse();
    return { ...common, kind, nodes: endpoints(hosts, 6379) };
  }
  if (kind === 'sentinel') {
    const [master = refuse(), ...db] = segments;
    return { ...common, kind, sentinels: endpoints(hosts, 26379), master, db: database(db) };
  }
  const [endpoint = refuse(), ...more] = endpoints(hosts, 6379);
  if (more.length > 0) refuse();
  return { ...common, kind: 'single', ...endpoint, db: database(segments) };
}

/** The first colon ends the user name. A password may contain colons. */
function toCredentials(auth: string): RedisAddress['credentials'] {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/.exec(auth) ?? [];
  return {
    ...(username === '' ? {} : { username: decode(username) }),
    ...(password === '' ? {} : { password: decode(password) }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse();
  }
}

function endpoints(hosts: string, defaultPort: number): Endpoint[] {
  return hosts.split(',').map((endpoint) => {
    const { ipv6, name = '', port } = ENDPOINT.exec(endpoint)?.groups ?? refuse();
    const number = port === undefined ? defaultPort : Number(port);
    return number > 0 && number < 65_536 ? { host: ipv6 ?? name, port: number } : refuse();
  });
}

function database([db = '0', ...more]: string[]): number {
  return /^\d{1,9}$/.test(db) && more.length === 0 ? Number(db) : refuse();
}

function refuse(): never {
  throw new ConfigError(`REDIS_URL is not valid: it must be ${RULE}`);
}
