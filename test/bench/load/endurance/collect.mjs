/**
 * Imported into a server under test, which runs with --expose-gc: when a message comes, collects
 * garbage and answers with the bytes of heap that are in use after it.
 */
import { isMainThread } from 'node:worker_threads';

// The threads of the server import it too; the channel to the test is the main thread's.
if (isMainThread) {
  process.on('message', () => {
    globalThis.gc();
    process.send(process.memoryUsage().heapUsed);
  });
}
