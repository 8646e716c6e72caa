import { Controller, Get, Header, Inject } from '@nestjs/common';
import { Registry } from 'prom-client';

/** Serves the metrics of the process to Prometheus. */
@Controller('metrics')
export class MetricsController {
  constructor(@Inject(Registry) private readonly registry: Registry) {}

  @Get()
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  metrics(): Promise<string> {
    return this.registry.metrics();
  }
}
