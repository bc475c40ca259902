/** Ticker thread: sleeps until the requested time, then sends a message. */
import { parentPort, workerData } from 'node:worker_threads';
import { CLOSED, type TickerSetting, threadsNow } from './ticker.js';

const { control, due } = workerData as TickerSetting;
/** Minimum latency of a wake-up, by which each sleep is shortened. */
const EARLY_MS = 0.02;

let seen = 0;
while (seen !== CLOSED) {
  Atomics.wait(control, 0, seen);
  seen = Atomics.load(control, 0);
  while (seen !== CLOSED && sleeps(due[0]! - threadsNow() - EARLY_MS)) {
    seen = Atomics.load(control, 0);
  }
  if (seen !== CLOSED) parentPort!.postMessage(null);
}

/** Sleeps. Returns true if a new request ended the sleep. */
function sleeps(ms: number): boolean {
  return ms > 0 && Atomics.wait(control, 0, seen, ms) !== 'timed-out';
}
