import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from './eventually.js';

/** A span as a process exports it. Ids are hex. */
export interface ExportedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Undefined for the root of a trace. */
  parentSpanId?: string;
  links: { traceId: string; spanId: string }[];
  status: { code?: number };
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: (Omit<ExportedSpan, 'service' | 'links'> & Partial<Pick<ExportedSpan, 'links'>>)[] }[];
  }[];
}

/** Receives traces over OTLP/HTTP as JSON (https://opentelemetry.io/docs/specs/otlp/). */
export class OtlpReceiver {
  readonly spans: ExportedSpan[] = [];
  /** Everything received, as text. */
  received = '';
  private readonly server: Server;

  private constructor() {
    this.server = createServer((request, response) => {
      void text(request).then((body) => {
        if (request.url === '/v1/traces') this.add(body);
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    // An idle connection is not closed: an export that is sent at that moment would be lost.
    this.server.keepAliveTimeout = 0;
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  /** The settings of a process that exports to this receiver. */
  get env(): Record<string, string> {
    const { port } = this.server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(port)}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
  }

  /** Waits for the first span with this name, in a trace if one is given. */
  find(name: string, traceId?: string): Promise<ExportedSpan> {
    return eventually(() => {
      const found = this.spans.find((span) => span.name === name && (traceId ?? span.traceId) === span.traceId);
      if (found === undefined) throw new Error(`no span ${name} in ${JSON.stringify(this.names)}`);
      return found;
    });
  }

  /** Returns the names of a span and of those that contain it, up to the root of its trace. */
  pathTo(span: ExportedSpan): string[] {
    const parent = this.spans.find(({ spanId, traceId }) => spanId === span.parentSpanId && traceId === span.traceId);
    return [`${span.service}: ${span.name}`, ...(parent === undefined ? [] : this.pathTo(parent))];
  }

  private get names(): string[] {
    return this.spans.map(({ service, name }) => `${service}: ${name}`);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private add(body: string): void {
    this.received += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
      const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push({ links: [], ...span, service });
    }
  }
}
