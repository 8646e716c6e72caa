// Readers in a thread of their own: what the load generator does for a burst must not make their answers late. They read
// all the time, count from the first message on, and after the second post their report.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { openLoop } from './loops.mjs';
import { readRequests } from './requests.mjs';
import { Tally } from './tally.mjs';

const CONNECTIONS = 16;

const { port, id, rate } = workerData;
const tally = new Tally({ measureFrom: Infinity });
const untilToldTwice = async () => {
  await once(parentPort, 'message');
  tally.measureFrom = performance.now();
  await once(parentPort, 'message');
};
await openLoop(port, { connections: CONNECTIONS, rate, until: untilToldTwice(), next: readRequests(port, id), tally });
parentPort.postMessage(tally.report());
parentPort.close();
