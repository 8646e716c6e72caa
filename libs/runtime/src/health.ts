import { Controller, Get, Inject, Res } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** How a process is, a line a part: {@link OK} or what is wrong with it. */
export interface Readiness {
  status: 'ready' | 'degraded' | 'not ready';
  parts: Record<string, string>;
}

/** What can tell how its process is. */
export interface ReadinessCheck {
  /** Whether the process is about to stop, which must be seen at once. */
  readonly isDraining?: boolean;
  check(): Promise<Readiness>;
}

/** Injection token of the process's {@link ReadinessCheck}. */
export const READINESS = Symbol('Readiness');

/** The line of a part that works. */
export const OK = 'ok';

/** Orchestrators wait 1 s for an answer by default; what takes longer counts as away. */
export const ANSWER_WITHIN_MS = 700;

/** How long a check is shared: asking often must not cost the stores, and orchestrators ask every few seconds. */
const SHARED_FOR_MS = 1000;

/** What is used of a response. */
interface TextResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

/** For orchestrators and Prometheus, on both processes: restart when not live, send no work when not ready. */
@Controller()
export class HealthController {
  private readonly partOk: Gauge;
  private latest: { at: number; isDraining: boolean; result: Promise<Readiness> } | undefined;

  constructor(
    @Inject(READINESS) private readonly readiness: ReadinessCheck,
    @Inject(Registry) private readonly registry: Registry,
  ) {
    collectDefaultMetrics({ register: registry });
    this.partOk = new Gauge({
      name: 'item_listing_part_ok',
      help: '1 while this part of the process works, else 0',
      labelNames: ['part'],
      registers: [registry],
    });
  }

  @Get('health/live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('health/ready')
  async ready(@Res({ passthrough: true }) response: TextResponse): Promise<Readiness> {
    const readiness = await this.check();
    response.statusCode = readiness.status === 'not ready' ? 503 : 200;
    return readiness;
  }

  @Get('metrics')
  async metrics(@Res() response: TextResponse): Promise<void> {
    const { parts } = await this.check();
    // A part that is named only while it is wrong is gone once it is well.
    this.partOk.reset();
    for (const [part, line] of Object.entries(parts)) this.partOk.set({ part }, line === OK ? 1 : 0);
    response.setHeader('Content-Type', this.registry.contentType);
    response.end(await this.registry.metrics());
  }

  /** Shares a check, also while it is under way; never one from before draining began. */
  private check(): Promise<Readiness> {
    const { isDraining = false } = this.readiness;
    const at = performance.now();
    if (this.latest?.isDraining !== isDraining || at - this.latest.at > SHARED_FOR_MS)
      this.latest = { at, isDraining, result: this.readiness.check() };
    return this.latest.result;
  }
}
