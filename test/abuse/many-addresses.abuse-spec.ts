import { describeManyAddresses } from './many-addresses.js';

// More than the callers that an instance counts in Redis.
describeManyAddresses(12_000);
