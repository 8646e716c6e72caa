import { describeHostileInput } from './hostile-input.js';

describeHostileInput(10);
