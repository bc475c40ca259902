/** A thread that verifies in a loop alongside other threads, and reports its rate. */
import { parentPort, workerData } from 'node:worker_threads';
import { rawVerifications } from './raw.js';

parentPort?.postMessage(rawVerifications(workerData as string));
