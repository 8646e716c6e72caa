import { trace, type Context, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';

/** How often to check whether all spans have ended. */
const CHECK_EVERY_MS = 20;

/**
 * Keeps contexts only while a span is being recorded, because few requests are sampled. Before Node.js 24,
 * AsyncLocalStorage makes every promise of the process slower, from its first use until it is disabled.
 */
export class SpanContextManager extends AsyncLocalStorageContextManager {
  private readonly spans = new Set<Span>();

  override with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    run: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    const span = trace.getSpan(context);
    if (span?.isRecording() === true) this.add(span);
    else if (this.spans.size === 0) return run.apply(thisArg, args);
    return super.with(context, run, thisArg, ...args);
  }

  private add(span: Span): void {
    if (this.spans.size === 0) this.checkLater();
    this.spans.add(span);
  }

  private checkLater(): void {
    setTimeout(() => {
      for (const span of this.spans) if (!span.isRecording()) this.spans.delete(span);
      if (this.spans.size === 0) this.disable();
      else this.checkLater();
    }, CHECK_EVERY_MS).unref();
  }
}
