import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
} from '@opentelemetry/api';

/** A job whose data may contain the `traceparent` of the span that queued it. */
export interface TracedJob {
  data: unknown;
}

/** The form of a `traceparent` (https://www.w3.org/TR/trace-context/). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** Without OpenTelemetry's SDK, spans do nothing. */
const tracer = trace.getTracer('item-listing');

/**
 * Runs `send` in a producer span if it is part of a trace.
 *
 * @param send gets the `traceparent` of the span (https://www.w3.org/TR/trace-context/)
 */
export function traceSend<T>(queue: string, send: (traceparent?: string) => Promise<T>): Promise<T> {
  if (trace.getActiveSpan() === undefined) return send();
  return tracer.startActiveSpan(`send ${queue}`, { kind: SpanKind.PRODUCER }, (span) => {
    const { traceId, spanId, traceFlags } = span.spanContext();
    const flags = traceFlags.toString(16).padStart(2, '0');
    return send(`00-${traceId}-${spanId}-${flags}`).finally(() => {
      span.end();
    });
  });
}

/**
 * Runs `process` for a batch of jobs. Each job gets a consumer span in its own trace. The span of the batch, which
 * contains its database queries, is in the trace of the first job and has a link to each job.
 */
export async function traceBatch<T>(queue: string, jobs: readonly TracedJob[], process: () => Promise<T>): Promise<T> {
  const senders = jobs.flatMap(({ data }) => senderOf(data) ?? []);
  const spans = senders.map((sender) => tracer.startSpan(`process ${queue}`, { kind: SpanKind.CONSUMER }, sender));
  const [first] = spans;
  if (first === undefined) return process();
  const attributes = { 'messaging.batch.message_count': jobs.length };
  const links = spans.map((span) => ({ context: span.spanContext() }));
  const batch = tracer.startSpan(`batch ${queue}`, { attributes, links }, trace.setSpan(ROOT_CONTEXT, first));
  try {
    return await context.with(trace.setSpan(ROOT_CONTEXT, batch), process);
  } catch (error) {
    for (const span of [batch, ...spans]) span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    for (const span of [batch, ...spans]) span.end();
  }
}

/** Returns the context of the span that queued a job. */
function senderOf(data: unknown): Context | undefined {
  const { traceparent } = (data ?? {}) as { traceparent?: unknown };
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(String(traceparent)) ?? [];
  const sender = { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(sender) ? trace.setSpanContext(ROOT_CONTEXT, sender) : undefined;
}
