// The thread of the steady requests. It sends them until it receives a message, and posts its report.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { openLoop } from './loops.mjs';
import { createRequests, readRequests } from './requests.mjs';
import { Tally } from './tally.mjs';

const CONNECTIONS = 16;

const { port, id, tokens, rate, measureAfterMs } = workerData;
const tally = new Tally({ measureFrom: performance.now() + measureAfterMs });
const next =
  id === undefined ? createRequests(port, { tokens }) : readRequests(port, { operation: 'getById', inputs: [{ id }] });
await openLoop(port, { connections: CONNECTIONS, rate, until: once(parentPort, 'message'), next, tally });
parentPort.postMessage(tally.report());
parentPort.close();
