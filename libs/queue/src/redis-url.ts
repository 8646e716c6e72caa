import { ConfigError } from '@app/runtime';
import type { RedisOptions } from 'ioredis';

/** The address of Redis, parsed from a `REDIS_URL`. */
export type RedisAddress = { tls: boolean; credentials: Credentials } & (
  | { kind: 'single'; host: string; port: number; db: number }
  | { kind: 'sentinel'; sentinels: Endpoint[]; sentinelCredentials: Credentials; master: string; db: number }
  | { kind: 'cluster'; nodes: Endpoint[] }
);

export interface Endpoint {
  host: string;
  port: number;
}

type Credentials = Pick<RedisOptions, 'username' | 'password'>;

const FORM =
  /^redis(?<tls>s)?(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<auth>[^@/]*)@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?(?<query>\?.*)?$/;
/** Not read as form data, in which a plus sign is a space. */
const SENTINEL_QUERY = /^\?(?:sentinelUsername=(?<username>[^&=#]*)&)?sentinelPassword=(?<password>[^&=#]*)$/;
const ENDPOINT = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<name>[^\s:[\]]+))(?::(?<port>\d{1,5}))?$/i;

const INVALID = new Error('not valid');

const RULE =
  'redis[s]://[user:password@]host[:port][/db], redis[s]+sentinel://[user:password@]host[:port],…/master[/db]' +
  '[?[sentinelUsername=user&]sentinelPassword=password] or redis[s]+cluster://[user:password@]host[:port],…, user and password percent-encoded';

/**
 * Parses a `REDIS_URL`, which has one of three forms:
 *
 * - a single server, `redis[s]://[user:password@]host[:port][/db]`
 * - Sentinel, `redis[s]+sentinel://[user:password@]host[:port],host[:port]…/master[/db]`, and with
 *   `?[sentinelUsername=user&]sentinelPassword=password` if the Sentinels require a password
 * - Cluster, `redis[s]+cluster://[user:password@]host[:port],host[:port]…`
 *
 * @param setting the name of the setting, for the message
 * @throws ConfigError if the URL is not valid. The message does not contain the URL, which may contain a password.
 */
export function parseRedisUrl(url: string, setting = 'REDIS_URL'): RedisAddress {
  try {
    return parse(url);
  } catch (error) {
    if (error !== INVALID) throw error;
    throw new ConfigError(`${setting} is not valid: it must be ${RULE}`);
  }
}

function parse(url: string): RedisAddress {
  const { tls, kind, auth = '', hosts = '', path = '', query } = FORM.exec(url)?.groups ?? refuse();
  const common = { tls: tls === 's', credentials: toCredentials(auth) };
  const segments = path.split('/').filter((segment) => segment !== '');
  if (query !== undefined && kind !== 'sentinel') refuse();
  if (kind === 'cluster') {
    if (segments.length > 0) refuse();
    return { ...common, kind, nodes: endpoints(hosts, 6379) };
  }
  if (kind === 'sentinel') {
    const [master = refuse(), ...db] = segments;
    const sentinels = endpoints(hosts, 26379);
    return { ...common, kind, sentinels, sentinelCredentials: ofSentinels(query), master, db: database(db) };
  }
  const [endpoint = refuse(), ...more] = endpoints(hosts, 6379);
  if (more.length > 0) refuse();
  return { ...common, kind: 'single', ...endpoint, db: database(segments) };
}

/** The first colon ends the user name. A password may contain colons. */
function toCredentials(auth: string): Credentials {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/.exec(auth) ?? [];
  return decoded(username, password);
}

function ofSentinels(query: string | undefined): Credentials {
  if (query === undefined) return {};
  const { username = '', password = '' } = SENTINEL_QUERY.exec(query)?.groups ?? refuse();
  return decoded(username, password);
}

function decoded(username: string, password: string): Credentials {
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
  throw INVALID;
}
