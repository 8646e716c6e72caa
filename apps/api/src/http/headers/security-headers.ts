import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { CONTENT_SECURITY_POLICY } from '@app/runtime';

/**
 * Responses are data, except for the page of the API's documentation.
 * Whether HSTS includes subdomains is up to whoever terminates TLS.
 */
const middleware = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: CONTENT_SECURITY_POLICY,
  },
  strictTransportSecurity: { includeSubDomains: false },
  xFrameOptions: { action: 'deny' },
  // Browsers log an error for it without TLS, and no page here opens another.
  crossOriginOpenerPolicy: false,
  // These serve only obsolete browsers, or pages that load others.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The headers of every response. They are always the same, so helmet runs once instead of for each request. */
export const COMMON_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['Cache-Control', 'no-store'],
  ...headersOf(middleware),
];

function headersOf(setHeaders: typeof middleware): [name: string, value: string][] {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  setHeaders(request, response, (error?: unknown) => {
    if (error !== undefined) throw error as Error;
  });
  return Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]);
}
