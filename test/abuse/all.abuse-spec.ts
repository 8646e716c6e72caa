import { describeScenarios } from './scenarios.js';

jest.setTimeout(180_000);

describeScenarios({ seconds: 20, share: 1, withinMs: 1000 });
