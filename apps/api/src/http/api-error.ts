import { ERRORS, type ErrorCode, type InputIssue } from '@app/contracts';

/** What an error answer says beyond its code. */
export interface ApiErrorDetails {
  message?: string;
  data?: object;
  headers?: Record<string, string>;
}

/** A request that is answered with an error on purpose; nothing is wrong with the service. */
export class ApiError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly details: ApiErrorDetails = {},
  ) {
    super(details.message ?? ERRORS[code].message);
  }

  /** 400 with what is wrong, field by field. */
  static input(issues: InputIssue[]): ApiError {
    return new ApiError('BAD_REQUEST', { data: { issues } });
  }
}
