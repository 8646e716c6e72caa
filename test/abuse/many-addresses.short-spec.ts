import { describeManyAddresses } from './many-addresses.js';

/** `npm run test:abuse` uses more addresses than an instance counts in Redis. */
describeManyAddresses(600);
