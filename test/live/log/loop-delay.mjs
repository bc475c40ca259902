/**
 * Imported into a server: for how much of its processor time the main thread worked since it was
 * last asked, and for how much of it at most without turning to anything else, in milliseconds.
 */
import { readFileSync } from 'node:fs';

/** Time that the main thread was on a processor: what other processes do does not count. */
const workedMs = () =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

let from = workedMs();
let last = from;
let longest = 0;
const look = () => {
  const now = workedMs();
  longest = Math.max(longest, now - last);
  last = now;
};
setInterval(look, 1).unref();
process.on('message', () => {
  look();
  process.send({ longestMs: longest, wholeMs: last - from });
  from = last;
  longest = 0;
});
