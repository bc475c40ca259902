/**
 * Loaded with `node --import` and `?at=PATTERN` before a program. Blocks the main thread once
 * standard error matches the pattern, until file descriptor 3 receives data or closes.
 */
import { readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const at = new RegExp(new URL(import.meta.url).searchParams.get('at'), 'm');
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (...given) => {
    const done = write(...given);
    if (at.test(String(given[0]))) readSync(3, new Uint8Array(1));
    return done;
  };
}
