/** How far a run is, on standard error: a bar on a terminal, a line a tenth elsewhere. */
import { Presets, SingleBar } from 'cli-progress';
import type { Progress } from '../sim/index.js';

export interface ProgressDisplay {
  update(progress: Progress): void;
  stop(): void;
}

export function showProgress(blocks: number): ProgressDisplay {
  return process.stderr.isTTY ? bar(blocks) : lines();
}

function bar(blocks: number): ProgressDisplay {
  const format = ' {bar} {value}/{total} blocks | {votes} votes | {duration_formatted}';
  const shown = new SingleBar({ format, stream: process.stderr }, Presets.shades_classic);
  shown.start(blocks, 0, { votes: 0 });
  return {
    update: ({ closed, votes }) => shown.update(Math.min(closed, blocks), { votes }),
    stop: () => shown.stop(),
  };
}

/** Each line names what is durable by then: after a crash the log holds at least that. */
function lines(): ProgressDisplay {
  let tenths = 0;
  return {
    update({ closed, of, votes, seq, digest }) {
      const reached = Math.floor((10 * closed) / of);
      if (reached === tenths) return;
      tenths = reached;
      const durable = `durable to entry ${seq} digest ${digest}`;
      process.stderr.write(`${closed}/${of} blocks, ${votes} votes, ${durable}\n`);
    },
    stop() {},
  };
}
