/**
 * Imported into a server. Reports the main thread's processor time since the last report, and its
 * longest event-loop turn, in milliseconds.
 */
import { readFileSync } from 'node:fs';

/** Returns the main thread's processor time, which is independent of other processes. */
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
