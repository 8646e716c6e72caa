import { describeHostileInput } from './abuse/hostile-input.js';

/** `npm run test:short` sends all of it once more, concurrently, and `npm run test:abuse` ten times. */
describeHostileInput(0);
