import { SharedReadiness, type Readiness, type ReadinessCheck } from './health.js';

const READY: Readiness = { status: 'ready', parts: {} };

class CountingCheck implements ReadinessCheck {
  count = 0;

  check(): Promise<Readiness> {
    this.count += 1;
    return Promise.resolve(READY);
  }
}

describe('SharedReadiness', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('a readiness check is shared by concurrent and recent requests', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const readiness = new CountingCheck();
    const shared = new SharedReadiness(readiness);
    await Promise.all([shared.check(), shared.check()]);
    await shared.check();
    expect(readiness.count).toBe(1);
  });
});
