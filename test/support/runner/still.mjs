/**
 * Loaded before a program, by `node --import` and its URL with `?at=PATTERN`. As soon as it has
 * written what matches to standard error, its main thread stands still, until the pipe that is its
 * file 3 brings something or ends.
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
