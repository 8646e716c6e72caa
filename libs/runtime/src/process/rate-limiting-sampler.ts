import { tracing } from '@opentelemetry/sdk-node';

/** Samples the first traces of each second, so that all are complete under low load, and cost little under high load. */
export class RateLimitingSampler implements tracing.Sampler {
  private second = 0;
  private sampled = 0;

  constructor(private readonly perSecond: number) {}

  shouldSample(): tracing.SamplingResult {
    const second = Math.trunc(performance.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.sampled = 0;
    }
    const isSampled = this.sampled < this.perSecond;
    if (isSampled) this.sampled++;
    const { RECORD_AND_SAMPLED, NOT_RECORD } = tracing.SamplingDecision;
    return { decision: isSampled ? RECORD_AND_SAMPLED : NOT_RECORD };
  }

  toString(): string {
    return `RateLimitingSampler{${String(this.perSecond)}/s}`;
  }
}
