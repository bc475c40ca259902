/** A thread that verifies in a plain loop, beside others, and says how fast it was. */
import { parentPort, workerData } from 'node:worker_threads';
import { rawVerifications } from './raw.js';

parentPort?.postMessage(rawVerifications(workerData as string));
