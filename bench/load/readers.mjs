// Readers in a separate thread, so that the load generator's work for a burst does not delay their responses. They read
// all the time, count after the first message, and post their report after the second.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { openLoop } from './loops.mjs';
import { readRequests } from './requests.mjs';
import { Tally } from './tally.mjs';

const CONNECTIONS = 16;

const { port, id, rate } = workerData;
const tally = new Tally({ measureFrom: Infinity });
const secondMessage = async () => {
  await once(parentPort, 'message');
  tally.measureFrom = performance.now();
  await once(parentPort, 'message');
};
await openLoop(port, { connections: CONNECTIONS, rate, until: secondMessage(), next: readRequests(port, id), tally });
parentPort.postMessage(tally.report());
parentPort.close();
