import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';

/**
 * Answers are data, never pages; the one page, the API's documentation, has scripts of its own
 * origin, and styles in its markup. Who terminates TLS decides for the domains below its own.
 */
const middleware = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      baseUri: ["'none'"],
      connectSrc: ["'self'"],
      fontSrc: ["'self'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
      imgSrc: ["'self'", 'data:'],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
    },
  },
  strictTransportSecurity: { includeSubDomains: false },
  xFrameOptions: { action: 'deny' },
  // Browsers complain of it where there is no TLS, and no page here opens another.
  crossOriginOpenerPolicy: false,
  // For browsers that are gone, or for pages that load others.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** What every answer has, the same each time: helmet is asked once, not with each request. */
export const STANDING_HEADERS: readonly (readonly [name: string, value: string])[] = [
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
