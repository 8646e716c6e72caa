import { SharedReadiness, type ReadinessCheck } from '@app/runtime';
import { HealthController } from './health.controller.js';

describe('HealthController', () => {
  it('readiness reports immediately that the process is about to stop', async () => {
    let isDraining = false;
    const readiness: ReadinessCheck = {
      get isDraining() {
        return isDraining;
      },
      check: () => Promise.resolve({ status: isDraining ? 'not ready' : 'ready', parts: {} }),
    };
    const controller = new HealthController(new SharedReadiness(readiness));
    const response = { statusCode: 0 };
    await controller.ready(response);
    expect(response.statusCode).toBe(200);
    isDraining = true;
    await controller.ready(response);
    expect(response.statusCode).toBe(503);
  });
});
