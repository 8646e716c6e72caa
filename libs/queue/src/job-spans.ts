import { context, propagation, ROOT_CONTEXT, SpanKind, trace, type Context } from '@opentelemetry/api';

/** A job whose data may contain the `traceparent` of the span that queued it. */
export interface TracedJob {
  data: unknown;
}

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
    const carrier: { traceparent?: string } = {};
    propagation.inject(context.active(), carrier);
    return send(carrier.traceparent).finally(() => {
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
  return context.with(trace.setSpan(ROOT_CONTEXT, batch), process).finally(() => {
    for (const span of [batch, ...spans]) span.end();
  });
}

/** Returns the context of the span that queued a job. */
function senderOf(data: unknown): Context | undefined {
  const { traceparent } = (data ?? {}) as { traceparent?: unknown };
  if (typeof traceparent !== 'string') return undefined;
  const sender = propagation.extract(ROOT_CONTEXT, { traceparent });
  return trace.getSpanContext(sender) === undefined ? undefined : sender;
}
