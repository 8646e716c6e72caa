import { setTimeout as delay } from 'node:timers/promises';
import { createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { tracing } from '@opentelemetry/sdk-node';
import { SpanContextManager } from './span-contexts.js';

const tracer = new tracing.BasicTracerProvider().getTracer('test');
const inSpan = () => {
  const span = tracer.startSpan('span');
  return { span, context: trace.setSpan(ROOT_CONTEXT, span) };
};

describe('SpanContextManager', () => {
  it('a context is active in everything that its callback starts while its span is recorded', async () => {
    const manager = new SpanContextManager();
    for (let round = 0; round < 2; round += 1) {
      const { span, context } = inSpan();
      const found = manager.with(context, async () => {
        await delay(60);
        return manager.active();
      });
      expect(manager.active()).toBe(ROOT_CONTEXT);
      expect(await found).toBe(context);
      span.end();
      // The next round begins after contexts have been disabled.
      await delay(60);
    }
  });

  it('contexts are disabled soon after the last span has ended', async () => {
    const manager = new SpanContextManager();
    const [first, last] = [inSpan(), inSpan()];
    await manager.with(first.context, async () => {
      await manager.with(last.context, async () => {
        first.span.end();
        await delay(60);
        expect(manager.active()).toBe(last.context);
        last.span.end();
        await delay(60);
        expect(manager.active()).toBe(ROOT_CONTEXT);
      });
    });
  });

  it('a context without a recorded span is active only while a span of another is recorded', () => {
    const manager = new SpanContextManager();
    const other = ROOT_CONTEXT.setValue(createContextKey('test'), true);
    expect(manager.with(other, () => manager.active())).toBe(ROOT_CONTEXT);
    const { span, context } = inSpan();
    const found = manager.with(context, () => manager.with(other, () => manager.active()));
    expect(found).toBe(other);
    span.end();
    expect(trace.getSpan(found)).toBeUndefined();
  });

  it('a callback gets its arguments and its receiver with and without a span', () => {
    const manager = new SpanContextManager();
    const add = function (this: { base: number }, more: number): number {
      return this.base + more;
    };
    expect(manager.with(ROOT_CONTEXT, add, { base: 1 }, 2)).toBe(3);
    expect(manager.with(inSpan().context, add, { base: 1 }, 3)).toBe(4);
  });
});
