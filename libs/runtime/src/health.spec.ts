import { HealthController, SharedReadiness, type Readiness, type ReadinessCheck } from './health.js';

const READY: Readiness = { status: 'ready', parts: {} };

class CountingCheck implements ReadinessCheck {
  isDraining = false;
  count = 0;

  check(): Promise<Readiness> {
    this.count += 1;
    return Promise.resolve(this.isDraining ? { ...READY, status: 'not ready' } : READY);
  }
}

describe('SharedReadiness', () => {
  it('shares one check among concurrent and recent requests', async () => {
    const readiness = new CountingCheck();
    const shared = new SharedReadiness(readiness);
    await Promise.all([shared.check(), shared.check()]);
    await shared.check();
    expect(readiness.count).toBe(1);
  });
});

describe('HealthController', () => {
  it('reports immediately that the process is about to stop', async () => {
    const readiness = new CountingCheck();
    const controller = new HealthController(new SharedReadiness(readiness));
    const response = { statusCode: 0 };
    await controller.ready(response);
    expect(response.statusCode).toBe(200);
    readiness.isDraining = true;
    await controller.ready(response);
    expect(response.statusCode).toBe(503);
  });
});
