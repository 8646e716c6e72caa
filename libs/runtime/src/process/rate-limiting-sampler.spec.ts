import { tracing } from '@opentelemetry/sdk-node';
import { RateLimitingSampler } from './rate-limiting-sampler.js';

const { RECORD_AND_SAMPLED, NOT_RECORD } = tracing.SamplingDecision;

describe('RateLimitingSampler', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('a rate-limiting sampler samples the first traces of each second', () => {
    const sampler = new RateLimitingSampler(2);
    const sample = (): tracing.SamplingDecision => sampler.shouldSample().decision;
    expect([sample(), sample(), sample()]).toEqual([RECORD_AND_SAMPLED, RECORD_AND_SAMPLED, NOT_RECORD]);
    jest.advanceTimersByTime(1000);
    expect([sample(), sample(), sample()]).toEqual([RECORD_AND_SAMPLED, RECORD_AND_SAMPLED, NOT_RECORD]);
  });
});
