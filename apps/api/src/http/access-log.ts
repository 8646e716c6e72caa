import type { Logger } from '@app/runtime';
import type { ApiResponse, ResponseObserver } from './api-message.js';
import type { CallerAddress } from './headers/caller-address.js';

/** Longer paths are cut. Those of the API are much shorter. */
const MAX_PATH_LENGTH = 200;

/** Logs each request when its response is sent or its client has disconnected, without its query, headers and body. */
export class AccessLog implements ResponseObserver {
  constructor(
    private readonly logger: Logger,
    private readonly callerOf: CallerAddress,
  ) {}

  observe(response: ApiResponse): void {
    const { req: request } = response;
    // Read now, because a closed socket has no address.
    const ip = this.callerOf(request);
    response.on('close', () => {
      const { requestId, method, originalUrl, url = '', arrivedAt } = request;
      const path = (originalUrl ?? url).split('?', 1)[0]?.slice(0, MAX_PATH_LENGTH);
      const status = response.writableFinished ? response.statusCode : 'disconnected';
      const ms = Math.round((performance.now() - arrivedAt) * 10) / 10;
      this.logger.info({ requestId, ip, method, path, status, ms }, 'request');
    });
  }
}
