import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { trustedProxies, type ApiConfig } from '@app/runtime';
import type { ApiListener, ApiRequest } from './api-message.js';

/** Requested by orchestrators all the time. */
const HEALTH = '/health/';
const tracer = trace.getTracer('item-listing');

/**
 * Runs a listener in a span for each request that is sampled. Continues the trace of a request if it comes from a
 * trusted proxy. A request that is not sampled runs without a span, and then no
 * instrumentation records anything for it.
 */
export function traceRequests(listener: ApiListener, trustProxy: ApiConfig['trustProxy']): ApiListener {
  const trusts = trustedProxies(trustProxy);
  return (request, response) => {
    if (request.url?.startsWith(HEALTH) === true) {
      listener(request, response);
      return;
    }
    const isTrusted = trusts(request.socket.remoteAddress ?? '', 0);
    const parent = isTrusted ? propagation.extract(ROOT_CONTEXT, request.headers) : ROOT_CONTEXT;
    const { method = '' } = request;
    const attributes = { 'http.request.method': method };
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    if (!span.isRecording()) {
      listener(request, response);
      return;
    }
    response.on('close', () => {
      const route = routeOf(request);
      if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
      span.setAttribute('http.response.status_code', response.statusCode);
      const hasFailed = !response.writableFinished || response.statusCode >= 500;
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), () => {
      listener(request, response);
    });
  };
}

/** Returns the path of the route, as Express and the fast lane set it. */
function routeOf({ route }: ApiRequest): string | undefined {
  const { path } = (route ?? {}) as { path?: unknown };
  return typeof path === 'string' ? path : undefined;
}
