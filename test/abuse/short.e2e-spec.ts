import { describeTrials } from './trials.js';

jest.setTimeout(60_000);

/** A fifth of `npm run test:abuse`, with longer timeouts: other tests may run beside it. */
describeTrials({ seconds: 2, share: 0.2, withinMs: 5000 });
