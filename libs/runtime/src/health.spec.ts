import { Registry } from 'prom-client';
import { HealthController, type Readiness, type ReadinessCheck } from './health.js';

const READY: Readiness = { status: 'ready', parts: {} };

class CountingCheck implements ReadinessCheck {
  isDraining = false;
  count = 0;

  check(): Promise<Readiness> {
    this.count += 1;
    return Promise.resolve(this.isDraining ? { ...READY, status: 'not ready' } : READY);
  }
}

function response(): { statusCode: number; setHeader: () => void; end: () => void } {
  return { statusCode: 0, setHeader: () => undefined, end: () => undefined };
}

describe('HealthController', () => {
  it('shares one check among concurrent and recent requests for readiness and metrics', async () => {
    const readiness = new CountingCheck();
    const controller = new HealthController(readiness, new Registry());
    await Promise.all([controller.ready(response()), controller.ready(response()), controller.metrics(response())]);
    await controller.ready(response());
    expect(readiness.count).toBe(1);
  });

  it('reports immediately that the process is about to stop', async () => {
    const readiness = new CountingCheck();
    const controller = new HealthController(readiness, new Registry());
    const res = response();
    await controller.ready(res);
    expect(res.statusCode).toBe(200);
    readiness.isDraining = true;
    await controller.ready(res);
    expect(res.statusCode).toBe(503);
  });
});
