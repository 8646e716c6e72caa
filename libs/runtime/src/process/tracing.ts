import { NodeSDK, resources } from '@opentelemetry/sdk-node';
import { IORedisInstrumentation } from '@opentelemetry/instrumentation-ioredis';
import { MongoDBInstrumentation } from '@opentelemetry/instrumentation-mongodb';
import { settledWithin } from '../concurrency/deadline.js';
import { SpanContextManager } from './span-contexts.js';

/** How long a process that stops waits for its last spans to be exported. */
const FLUSH_WITHIN_MS = 1000;

/** Returns the name of a command to MongoDB, which is its first field. */
function nameOf(command: object): string {
  return Object.keys(command)[0] ?? '';
}

/**
 * Starts OpenTelemetry (https://opentelemetry.io/docs/languages/js/), which reads its settings from `OTEL_*` variables.
 * Must be loaded and called before the modules that it instruments are loaded.
 *
 * @returns a function that exports the last spans
 */
export function startTracing(service: string): () => Promise<void> {
  const sdk = new NodeSDK({
    // OTEL_SERVICE_NAME replaces it.
    resource: resources.defaultResource().merge(resources.resourceFromAttributes({ 'service.name': service })),
    contextManager: new SpanContextManager(),
    // The text of commands contains that of items, and takes long to write.
    instrumentations: [
      new MongoDBInstrumentation({ requireParentSpan: true, dbStatementSerializer: nameOf }),
      new IORedisInstrumentation({ requireParentSpan: true, dbStatementSerializer: (command) => command }),
    ],
    // Metrics are served to Prometheus, and logs are written to standard output.
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  return async () => {
    await settledWithin(FLUSH_WITHIN_MS, sdk.shutdown());
  };
}
