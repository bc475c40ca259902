/** Latencies as a block meets them: to its one elector, and back with the vote. */
import jstat from 'jstat';
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { meanInterval, meanOf, shareInterval } from '../interval.js';
import { approving, blocksOf } from '../runs.js';

const MEAN_MS = 300;
const SPREAD_MS = 200;
const THINK_MS = 200;

async function rows(size: Size): Promise<Row[]> {
  const traits = { ...approving, think_ms: 0 };
  const latency = { distribution: 'exponential', mean_ms: MEAN_MS, spread_ms: SPREAD_MS };
  const blocks = await blocksOf({
    agents: [{ group: 'elector', count: 1, producers: 1, traits }],
    producers: { block_interval_ms: 1_000 },
    links: { latency },
    length: { blocks: scaled(size, 200, 4_000) },
  });
  const found = blocks.map(({ finality }) => finality);
  const shift = THINK_MS + 2 * (MEAN_MS - SPREAD_MS);
  const from = `${found.length} blocks`;
  const shares = [0.05, 0.5, 0.95, 0.99].map((place): Row => {
    // Whole milliseconds: one half is half way between two.
    const ms = Math.round(shift + jstat.jStat.gamma.inv(place, 2, SPREAD_MS));
    const theory = jstat.jStat.gamma.cdf(ms + 0.5 - shift, 2, SPREAD_MS);
    const within = found.filter((one) => one <= ms).length;
    const measured = within / found.length;
    const interval = shareInterval(within, found.length);
    return { what: `share of blocks final within ${ms} ms`, theory, measured, interval, from };
  });
  const mean = { theory: shift + 2 * SPREAD_MS, measured: meanOf(found) };
  return [{ what: 'mean finality, ms', ...mean, interval: meanInterval(found), from }, ...shares];
}

export const latency: ValidationCase = {
  name: 'latency',
  about:
    'A block with one elector who thinks 200 ms is final after two latencies, its own and that ' +
    'of the vote. With exponential latencies of mean 300 ms and deviation 200 ms, shifted by ' +
    '100 ms, their sum has a gamma distribution of shape 2.',
  source: 'gamma distribution',
  rows,
};
