import { createHash, timingSafeEqual } from 'node:crypto';
import { ForbiddenException, UnauthorizedException } from '@nestjs/common';
import type { Request, RequestHandler } from 'express';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Accepts requests with this token, as a bearer token or as the password of HTTP basic authentication, with any
 * user name. Browsers ask for the latter.
 *
 * @throws UnauthorizedException from the handler, for any other request
 */
export function requireToken(token: string): RequestHandler {
  const expected = digest(token);
  return (request, response, next) => {
    const given = digest(credential(request.headers.authorization));
    // Compares digests, because `timingSafeEqual` needs values of the same length.
    if (timingSafeEqual(expected, given)) {
      next();
      return;
    }
    response.setHeader('WWW-Authenticate', 'Basic realm="Item Listing Service", charset="UTF-8"');
    throw new UnauthorizedException('A valid token is required');
  };
}

/**
 * Accepts requests from this machine whose `Host` is a loopback name or address. The latter keeps out pages on other
 * sites whose host name resolves to this machine (DNS rebinding).
 *
 * @throws ForbiddenException from the handler, for any other request
 */
export const requireLoopback: RequestHandler = (request, _response, next) => {
  const address = request.socket.localAddress ?? '';
  const isLoopback = address === '::1' || /^(::ffff:)?127\./.test(address);
  if (!isLoopback || !LOOPBACK_NAMES.includes(hostname(request)))
    throw new ForbiddenException('Set ADMIN_TOKEN to use this page from other machines');
  next();
};

/**
 * Accepts requests that change nothing, and those sent by a page of the same origin. Other sites could otherwise use the
 * credentials that the browser has stored.
 *
 * @throws ForbiddenException from the handler, for any other request
 * @see https://cheatsheetseries.owasp.org/cheatsheets/Cross-Site_Request_Forgery_Prevention_Cheat_Sheet.html
 */
export const requireSameOrigin: RequestHandler = (request, _response, next) => {
  const { origin, host } = request.headers;
  const isSame = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  if (!isSame && !SAFE_METHODS.includes(request.method)) throw new ForbiddenException('Origin must match Host');
  next();
};

function credential(authorization = ''): string {
  const [, scheme = '', value = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function hostname({ headers: { host = '' } }: Request): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}
