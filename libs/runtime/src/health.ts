import { Controller, Get, Inject, Res } from '@nestjs/common';
import { Gauge, Registry } from 'prom-client';

/** The state of a process, with one line for each part: {@link OK}, or what is wrong with it. */
export interface Readiness {
  status: 'ready' | 'degraded' | 'not ready';
  parts: Record<string, string>;
}

/** Checks the state of its process. */
export interface ReadinessCheck {
  /** Whether the process is about to stop. Read for each request, because it must be visible immediately. */
  readonly isDraining?: boolean;
  check(): Promise<Readiness>;
}

/** Injection token of the {@link ReadinessCheck} of the process. */
export const READINESS = Symbol('Readiness');

/** The line of a part that works. */
export const OK = 'ok';

/** A part that takes longer to respond counts as away. Kubernetes probes time out after 1 s by default. */
export const CHECK_TIMEOUT_MS = 700;

/** How long the result of a check is shared, so that frequent requests put no load on the databases. */
export const SHARED_FOR_MS = 1000;

/** The parts of a response that are used here. */
interface TextResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

/**
 * Health and metrics endpoints of both processes, for orchestrators and Prometheus. Restart a process that is not live;
 * send no work to one that is not ready.
 */
@Controller()
export class HealthController {
  private readonly partOk: Gauge;
  private latest: { at: number; isDraining: boolean; result: Promise<Readiness> } | undefined;

  constructor(
    @Inject(READINESS) private readonly readiness: ReadinessCheck,
    @Inject(Registry) private readonly registry: Registry,
  ) {
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
    // Removes parts that are reported only while they fail.
    this.partOk.reset();
    for (const [part, line] of Object.entries(parts)) this.partOk.set({ part }, line === OK ? 1 : 0);
    response.setHeader('Content-Type', this.registry.contentType);
    response.end(await this.registry.metrics());
  }

  /** Shares one check, even while it is running, but never one from before draining began. */
  private check(): Promise<Readiness> {
    const { isDraining = false } = this.readiness;
    const at = performance.now();
    if (this.latest?.isDraining !== isDraining || at - this.latest.at > SHARED_FOR_MS)
      this.latest = { at, isDraining, result: this.readiness.check() };
    return this.latest.result;
  }
}
