import { describeTrials } from './trials.js';

jest.setTimeout(180_000);

describeTrials({ seconds: 20, share: 1, withinMs: 1000 });
