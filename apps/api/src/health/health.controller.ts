import { Controller, Get, Res } from '@nestjs/common';
import { answer, type ApiResponse } from '../orpc/answer.js';
import { ApiReadiness } from './readiness.js';

/** For orchestrators: restart when not live, send no requests when not ready. */
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: ApiReadiness) {}

  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  @Get('ready')
  async ready(@Res() response: ApiResponse): Promise<void> {
    const readiness = await this.readiness.check();
    answer(response, readiness.status === 'not ready' ? 503 : 200, readiness);
  }
}
