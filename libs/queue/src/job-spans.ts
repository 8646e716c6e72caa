import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
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
 * Runs `process` for a batch of jobs. Each job gets a consumer span in its own trace, which is an error if the job has
 * failed. The span of the batch, which contains its database queries, is in the trace of the first job and has a link to
 * each job.
 *
 * @param process returns the outcome of each job, in job order
 */
export async function traceBatch<Outcome extends { kind: string }>(
  queue: string,
  jobs: readonly TracedJob[],
  process: () => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const spans = jobs.map(({ data }) => startProcessSpan(queue, data));
  const started = spans.filter((span) => span !== undefined);
  const [first] = started;
  if (first === undefined) return process();
  const attributes = { 'messaging.batch.message_count': jobs.length };
  const links = started.map((span) => ({ context: span.spanContext() }));
  const batch = tracer.startSpan(`batch ${queue}`, { attributes, links }, trace.setSpan(ROOT_CONTEXT, first));
  try {
    const outcomes = await context.with(trace.setSpan(ROOT_CONTEXT, batch), process);
    for (const [index, { kind }] of outcomes.entries()) if (kind === 'failed') markFailed(spans[index]);
    return outcomes;
  } catch (error) {
    for (const span of [batch, ...started]) markFailed(span);
    throw error;
  } finally {
    for (const span of [batch, ...started]) span.end();
  }
}

/** Starts the span of a job, if it was queued by one. */
function startProcessSpan(queue: string, data: unknown): Span | undefined {
  const sender = senderOf(data);
  return sender && tracer.startSpan(`process ${queue}`, { kind: SpanKind.CONSUMER }, sender);
}

/** Without the message of the error, which may contain the texts of items. */
function markFailed(span: Span | undefined): void {
  span?.setStatus({ code: SpanStatusCode.ERROR });
}

/** Returns the context of the span that queued a job. */
function senderOf(data: unknown): Context | undefined {
  const { traceparent } = (data ?? {}) as { traceparent?: unknown };
  const text = typeof traceparent === 'string' ? traceparent : '';
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(text) ?? [];
  const sender = { traceId, spanId, traceFlags: parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(sender) ? trace.setSpanContext(ROOT_CONTEXT, sender) : undefined;
}
