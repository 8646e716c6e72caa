import { describeClientMemory } from './abuse/client-memory.js';

/** A fifth of what `npm run test:abuse` sends. */
describeClientMemory(0.2);
