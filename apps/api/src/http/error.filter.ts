import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { isDatabaseAway } from '@app/database';
import type { Logger } from '@app/runtime';
import { sendError, type ApiRequest, type ApiResponse } from './api-message.js';
import type { CallerAddress } from './caller-address.js';
import { ApiError } from './api-error.js';

/** A store that is away is usually back within seconds. */
const AWAY = new ApiError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' } });

/** Turns anything that handlers throw into an error response. Unexpected errors are logged and sent as a plain 500. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly callerAddress: CallerAddress,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ApiResponse>();
    const { code, details } = this.toApiError(error, response.req);
    sendError(response, code, details);
  }

  /** Returns the error to send for anything thrown while handling a request. */
  toApiError(error: unknown, request: ApiRequest): ApiError {
    if (error instanceof ApiError) return error;
    const { requestId } = request;
    const ip = this.callerAddress(request);
    if (isDatabaseAway(error)) {
      this.logger.warn({ requestId, ip, error: (error as Error).name }, 'MongoDB is away');
      return AWAY;
    }
    this.logger.error({ requestId, ip, err: error }, 'unexpected error');
    return new ApiError('INTERNAL_SERVER_ERROR');
  }
}
