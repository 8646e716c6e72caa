/** The operations of the API. */
export type Operation = 'getAll' | 'getById' | 'create';

const OPERATIONS: readonly Operation[] = ['getAll', 'getById', 'create'];
const PATH = /^\/api\/orpc\/items\/(getAll|getById|create)(?:$|\?)/;

/** oRPC clients call the operations, and may call other routes below this path. */
const ORPC = '/api/orpc/';

/** The URL paths of the operations. */
export const OPERATION_PATHS = OPERATIONS.map((operation) => `/api/orpc/items/${operation}`);

/** Returns the operation that a URL path stands for, with or without a query. */
export function operationOf(url: string): Operation | undefined {
  return PATH.exec(url)?.[1] as Operation | undefined;
}

/** Returns whether the bodies of requests for a URL path may have the envelope of oRPC clients. */
export function isForOrpc(url: string): boolean {
  return url.startsWith(ORPC);
}
