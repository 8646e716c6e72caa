import { describeClientMemory } from './client-memory.js';

jest.setTimeout(90_000);

describeClientMemory(1);
