import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from '@opentelemetry/api';
import { trustedProxies, type ApiConfig } from '@app/runtime';
import type { ApiListener, ApiRequest } from './api-message.js';
import { TraceLimiter } from './trace-limiter.js';

/** Requested by orchestrators all the time. */
const HEALTH = '/health/';
/** How many traces an API begins per second, unless `OTEL_TRACES_SAMPLER` says otherwise. */
const TRACES_PER_SECOND = 20;
const tracer = trace.getTracer('item-listing');

/**
 * Runs a listener in a span for each request that is traced: continues the traces of trusted proxies, and begins a limited
 * number of others. Any other request runs without a span, and then no instrumentation records anything for it.
 */
export function traceRequests(listener: ApiListener, config: ApiConfig): ApiListener {
  const trusts = trustedProxies(config.trustProxy);
  const limiter = new TraceLimiter(config.isTraceSamplerSet ? Infinity : TRACES_PER_SECOND);
  const startSpan = (request: ApiRequest): { span: Span; parent: Context } | undefined => {
    if (request.url?.startsWith(HEALTH) === true) return undefined;
    const isTrusted = trusts(request.socket.remoteAddress ?? '', 0);
    const parent = isTrusted ? propagation.extract(ROOT_CONTEXT, request.headers) : ROOT_CONTEXT;
    // Even for a request that is not sampled, starting a span costs more than everything before it.
    if (trace.getSpanContext(parent) === undefined && !limiter.mayBegin()) return undefined;
    const { method = '' } = request;
    const attributes = { 'http.request.method': method };
    const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
    return span.isRecording() ? { span, parent } : undefined;
  };
  return (request, response) => {
    const started = startSpan(request);
    if (started === undefined) {
      listener(request, response);
      return;
    }
    const { span, parent } = started;
    response.on('close', () => {
      const route = routeOf(request);
      if (route !== undefined) span.updateName(`${request.method ?? ''} ${route}`).setAttribute('http.route', route);
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
