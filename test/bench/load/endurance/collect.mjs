/**
 * Imported into a server under test, which runs with --expose-gc. On each message, collects garbage
 * and replies with the number of heap bytes in use afterwards.
 */
import { isMainThread } from 'node:worker_threads';

// The server's threads import this module too, but only the main thread has a channel to the test.
if (isMainThread) {
  process.on('message', () => {
    globalThis.gc();
    process.send(process.memoryUsage().heapUsed);
  });
}
