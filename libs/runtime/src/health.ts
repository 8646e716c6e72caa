import { Controller, Get, Inject, Res } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** How a process is, a line a part: {@link OK} or what is wrong with it. */
export interface Readiness {
  status: 'ready' | 'degraded' | 'not ready';
  parts: Record<string, string>;
}

/** What can tell how its process is. */
export interface ReadinessCheck {
  check(): Promise<Readiness>;
}

/** Injection token of the process's {@link ReadinessCheck}. */
export const READINESS = Symbol('Readiness');

/** The line of a part that works. */
export const OK = 'ok';

/** Orchestrators wait 1 s for an answer by default; what takes longer counts as away. */
export const ANSWER_WITHIN_MS = 700;

/** What is used of a response. */
interface TextResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(text: string): unknown;
}

/** For orchestrators and Prometheus, on both processes: restart when not live, send no work when not ready. */
@Controller()
export class HealthController {
  private readonly registry = new Registry();
  private readonly partOk = new Gauge({
    name: 'item_listing_part_ok',
    help: '1 while this part of the process works, else 0',
    labelNames: ['part'],
    registers: [this.registry],
  });

  constructor(@Inject(READINESS) private readonly readiness: ReadinessCheck) {
    collectDefaultMetrics({ register: this.registry });
  }

  @Get('health/live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('health/ready')
  async ready(@Res({ passthrough: true }) response: TextResponse): Promise<Readiness> {
    const readiness = await this.readiness.check();
    response.statusCode = readiness.status === 'not ready' ? 503 : 200;
    return readiness;
  }

  @Get('metrics')
  async metrics(@Res() response: TextResponse): Promise<void> {
    const { parts } = await this.readiness.check();
    for (const [part, line] of Object.entries(parts)) this.partOk.set({ part }, line === OK ? 1 : 0);
    response.setHeader('Content-Type', this.registry.contentType);
    response.end(await this.registry.metrics());
  }
}
