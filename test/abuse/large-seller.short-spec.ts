import { describeLargeSeller } from './large-seller.js';

/** `npm run test:abuse` queues more. */
describeLargeSeller(2000);
