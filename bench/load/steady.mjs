// The thread of a steady stream. It sends requests until it receives a message, and posts its report.
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { prepare } from './stream.mjs';

const { port, stream } = workerData;
parentPort.postMessage(await prepare(port, stream)(once(parentPort, 'message')));
parentPort.close();
