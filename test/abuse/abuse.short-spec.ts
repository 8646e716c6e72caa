import { describeScenarios } from './scenarios.js';

/** A fifth of `npm run test:abuse`, with a longer time limit because other work may run at the same time. */
describeScenarios({ seconds: 2, share: 0.2, withinMs: 9000 });
