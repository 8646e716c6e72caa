import { Controller, Get, Inject, Res } from '@nestjs/common';
import { SharedReadiness, type Readiness } from '@app/runtime';

/** Health endpoints for orchestrators. Restart a process that is not live; send no work to one that is not ready. */
@Controller('health')
export class HealthController {
  constructor(@Inject(SharedReadiness) private readonly readiness: SharedReadiness) {}

  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  async ready(@Res({ passthrough: true }) response: { statusCode: number }): Promise<Readiness> {
    const readiness = await this.readiness.check();
    response.statusCode = readiness.status === 'not ready' ? 503 : 200;
    return readiness;
  }
}
