import { describeHostileInput } from './hostile-input.js';

/** `npm run test:abuse` sends all of it ten times. */
describeHostileInput(1);
