/** How far a run is, on standard error: a bar on a terminal, a line a tenth elsewhere. */
import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from '../../sim/index.js';
import { BAR } from './count-progress.js';
import { canRedraw, say } from './output.js';

export interface ProgressDisplay {
  update(progress: Progress): void;
  stop(): void;
}

export function showProgress(): ProgressDisplay {
  return canRedraw() ? bar() : lines();
}

function bar(): ProgressDisplay {
  const format = ' {bar} {percentage}% | {closed} blocks | {votes} votes | {duration_formatted}';
  const shown = new SingleBar(
    { format, stream: process.stderr, barsize: BAR },
    Presets.shades_classic,
  );
  shown.start(1, 0, { closed: 0, votes: 0 });
  return {
    update: ({ done, closed, votes }) => shown.update(done, { closed, votes }),
    stop: () => shown.stop(),
  };
}

/** Each line names what is durable by then: after a crash the log holds at least that. */
function lines(): ProgressDisplay {
  let tenths = 0;
  return {
    update({ done, closed, votes, seq, digest }) {
      const reached = Math.floor(10 * done);
      if (reached === tenths) return;
      tenths = reached;
      // A run on a server has no digest: the log is not its own.
      const durable = digest === '' ? '' : `, durable to entry ${seq} digest ${digest}`;
      say(`${reached}0 %: ${closed} blocks, ${votes} votes${durable}`);
    },
    stop() {},
  };
}
