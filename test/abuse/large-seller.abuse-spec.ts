import { describeLargeSeller } from './large-seller.js';

describeLargeSeller(5000);
