import { HttpException } from '@nestjs/common';
import { ERRORS, type ErrorCode, type InputIssue } from '@app/contracts';

/** What an error response contains beyond its code. */
export interface ApiErrorDetails {
  /** Of an error whose status is not in {@link ERRORS}. */
  status?: number;
  message?: string;
  data?: object;
  headers?: Record<string, string>;
}

/** An expected error response. It is sent without being logged. */
export class ApiError extends HttpException {
  constructor(
    readonly code: ErrorCode,
    readonly details: ApiErrorDetails = {},
  ) {
    super(details.message ?? ERRORS[code].message, details.status ?? ERRORS[code].status);
  }
}

/** A 400 that lists the issues of an input. */
export class InputError extends ApiError {
  constructor(readonly issues: InputIssue[]) {
    super('BAD_REQUEST', { data: { issues } });
  }
}
