import { DURATION_BUCKETS } from '@app/runtime';
import { Histogram, type Registry } from 'prom-client';
import type { ApiResponse, ResponseObserver } from '../http/api-message.js';
import { operationOf } from '../http/operation.js';

/** Measures how long requests take. */
export class RequestMetrics implements ResponseObserver {
  private readonly onClose: (this: ApiResponse) => void;

  constructor(registry: Registry) {
    const duration = new Histogram({
      name: 'item_listing_http_request_duration_seconds',
      help: 'Time from the head of a request until its response is sent or its client has disconnected',
      labelNames: ['operation', 'status'],
      buckets: DURATION_BUCKETS,
      registers: [registry],
    });
    // In Prometheus, a counter that begins at one has not increased, so the first 500 would cause no alert.
    for (const operation of ['getAll', 'getById', 'create', 'other']) duration.zero({ operation, status: '500' });
    // One function for all responses, because a closure for each would cost more than the measurement.
    this.onClose = function () {
      const { arrivedAt, originalUrl, url = '' } = this.req;
      const operation = operationOf(originalUrl ?? url) ?? 'other';
      const status = this.writableFinished ? this.statusCode : 'disconnected';
      duration.observe({ operation, status }, (performance.now() - arrivedAt) / 1000);
    };
  }

  observe(response: ApiResponse): void {
    response.on('close', this.onClose);
  }
}
