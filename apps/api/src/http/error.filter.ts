import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { ERRORS, type ErrorCode } from '@app/contracts';
import { isDatabaseUnavailable, isNotAllowed, reasonOf } from '@app/database';
import { TimeoutError, type Logger } from '@app/runtime';
import { sendError, type ApiRequest, type ApiResponse } from './api-message.js';
import type { CallerAddress } from './headers/caller-address.js';
import { ApiError, type ApiErrorDetails } from './api-error.js';
import { cutOff } from './connections/early-error.js';

/** A store that is unavailable is usually back within seconds. */
const UNAVAILABLE = new ApiError('SERVICE_UNAVAILABLE', { headers: { 'Retry-After': '1' } });

/**
 * Turns anything that handlers throw into an error response. Unexpected errors are logged and sent as a plain 500. Nest's
 * own exceptions are sent with their message, and logged if their status is 500 or above.
 */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly logger: Logger,
    private readonly callerAddress: CallerAddress,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ApiResponse>();
    // A read that was abandoned because its client has disconnected says nothing about MongoDB.
    const isAbandoned = error instanceof TimeoutError && response.req.socket.destroyed;
    const { code, details } = isAbandoned ? UNAVAILABLE : this.toApiError(error, response.req);
    if (response.headersSent) cutOff(response);
    else sendError(response, code, details);
  }

  /** Returns the error to send for anything thrown while handling a request. */
  toApiError(error: unknown, request: ApiRequest): ApiError {
    if (error instanceof ApiError) return error;
    if (error instanceof HttpException) {
      if (error.getStatus() >= 500) this.logUnexpected(error, request);
      return ofStatus(error.getStatus(), detailsOf(error));
    }
    if (isHttpError(error)) return ofStatus(error.statusCode, { message: error.message });
    if (isMongodbUnavailable(error)) {
      const { requestId } = request;
      const ip = this.callerAddress(request);
      this.logger.warn(
        { requestId, ip, error: (error as Error).name, reason: reasonOf(error) },
        'MongoDB is unavailable',
      );
      return UNAVAILABLE;
    }
    this.logUnexpected(error, request);
    return new ApiError('INTERNAL_SERVER_ERROR');
  }

  private logUnexpected(err: unknown, request: ApiRequest): void {
    this.logger.error({ requestId: request.requestId, ip: this.callerAddress(request), err }, 'unexpected error');
  }
}

/** Returns whether a request gets a 503 because of this error: MongoDB is unavailable, or the user lacks a permission. */
export function isMongodbUnavailable(error: unknown): boolean {
  return isDatabaseUnavailable(error) || isNotAllowed(error);
}

/** Returns the error with the code of a status. */
function ofStatus(status: number, details: ApiErrorDetails): ApiError {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  const code = codes.find((each) => ERRORS[each].status === status);
  return new ApiError(code ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'), { status, ...details });
}

/** Returns whether middleware of Express blames the client (https://www.npmjs.com/package/http-errors). */
function isHttpError(error: unknown): error is Error & { statusCode: number } {
  const { expose, statusCode } = Object(error) as { expose?: unknown; statusCode?: unknown };
  return error instanceof Error && expose === true && Number(statusCode) >= 400 && Number(statusCode) < 500;
}

/**
 * Returns the message of an exception of Nest, or its `error` if it has none, and its other content as data. Beside a
 * message, `error` only names the status. Data of an error of the service itself is not sent.
 */
function detailsOf(exception: HttpException): ApiErrorDetails {
  const [status, response] = [exception.getStatus(), exception.getResponse()];
  const content = typeof response === 'string' || Array.isArray(response) ? { message: response } : response;
  const { message, error } = content as { message?: unknown; error?: unknown };
  const details = { message: textOf(message) ?? textOf(error) ?? exception.message };
  const data = Object.entries(content).filter(([key, value]) => {
    if (key === 'message' || key === 'error') return textOf(value) === undefined && isJson(value);
    if (key === 'status' || key === 'statusCode') return value !== status && isJson(value);
    return isJson(value);
  });
  return status >= 500 || data.length === 0 ? details : { ...details, data: Object.fromEntries(data) };
}

/** Returns a text as it is, and a list of texts, which Nest's validation pipe throws, as one. */
function textOf(value: unknown): string | undefined {
  const texts = [value].flat();
  return texts.length > 0 && texts.every((text) => typeof text === 'string') ? texts.join('; ') : undefined;
}

/** Returns whether a value can be sent. */
function isJson(value: unknown): boolean {
  try {
    return (JSON.stringify(value) as string | undefined) !== undefined;
  } catch {
    return false;
  }
}
