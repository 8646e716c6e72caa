/** The operations of the API. */
export type Operation = 'getAll' | 'getById' | 'create';

const OPERATIONS: readonly Operation[] = ['getAll', 'getById', 'create'];
const PATH = /^\/api\/orpc\/items\/(getAll|getById|create)(?:$|\?)/;

/** The URL paths of the operations. */
export const OPERATION_PATHS = OPERATIONS.map((operation) => `/api/orpc/items/${operation}`);

/** Returns the operation that a URL path stands for, with or without a query. */
export function operationOf(url: string): Operation | undefined {
  return PATH.exec(url)?.[1] as Operation | undefined;
}
