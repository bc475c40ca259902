/** Imported into a server: for how long its loop was held up at most since it was last asked. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('message', () => {
  process.send(delay.max / 1e6);
  delay.reset();
});
