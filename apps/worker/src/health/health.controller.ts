import { Controller, Get, HttpStatus, Res } from '@nestjs/common';
import type { Response } from 'express';
import { WorkerReadiness } from './readiness.js';

/** For orchestrators: restart when not live, count as working when ready. */
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: WorkerReadiness) {}

  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response): Promise<object> {
    const readiness = await this.readiness.check();
    response.status(readiness.status === 'ready' ? HttpStatus.OK : HttpStatus.SERVICE_UNAVAILABLE);
    return readiness;
  }
}
