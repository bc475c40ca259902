/** How many of many things are done, on standard error: a bar with time left, or a line a tenth. */
import { Presets, SingleBar } from 'cli-progress';
import { canRedraw, say } from './output.js';

export interface CountProgress {
  update(done: number): void;
  stop(): void;
}

/** Columns of the bar itself: what stands beside it needs the rest of a narrow terminal. */
export const BAR = 24;

/** @param what is counted, in the plural. */
export function showCount(of: number, what: string): CountProgress {
  return canRedraw() ? bar(of, what) : lines(of, what);
}

function bar(of: number, what: string): CountProgress {
  const format = ` {bar} {value}/{total} ${what} | {eta_formatted} left`;
  const shown = new SingleBar(
    { format, stream: process.stderr, etaBuffer: 50, barsize: BAR },
    Presets.shades_classic,
  );
  let started = false;
  return {
    update(done) {
      if (started) shown.update(done);
      else shown.start(of, done);
      started = true;
    },
    stop: () => shown.stop(),
  };
}

function lines(of: number, what: string): CountProgress {
  let tenths = -1;
  return {
    update(done) {
      const reached = Math.floor((10 * done) / of);
      if (reached === tenths) return;
      tenths = reached;
      say(`${done}/${of} ${what}`);
    },
    stop() {},
  };
}
