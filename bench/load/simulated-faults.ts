/**
 * Faults of a simulated run, measured as those of a load run: a block is an arrival, its finality
 * is the response, and all times are simulated. A block that ends otherwise is an error.
 */
import { parseNumber, tableRows } from '../../report/folder.js';
import { readResult } from '../../sim/compare/runs.js';
import type { Selector } from '../../sim/scenario/schema/network.js';
import { FaultRecord } from './faults.js';
import { newHistogram, record, type Usual } from './percentiles.js';
import { Seconds } from './recorder.js';
import type { LoadResult } from './result.js';

/** A block that voting ended, with times in milliseconds of the run. */
interface Closed {
  isFinal: boolean;
  proposedMs: number;
  closedMs: number;
}

async function readClosed(folder: string): Promise<Closed[]> {
  const blocks: Closed[] = [];
  for await (const { status, proposed_ms, closed_ms, warmup } of tableRows(folder, 'blocks.csv')) {
    const [proposedMs, closedMs] = [parseNumber(proposed_ms), parseNumber(closed_ms)];
    if (warmup === '1' || typeof proposedMs !== 'number' || typeof closedMs !== 'number') continue;
    blocks.push({ isFinal: status === 'finalized', proposedMs, closedMs });
  }
  return blocks.sort((a, b) => a.closedMs - b.closedMs);
}

/** Times from the proposal to finality, in total and by second. */
function usualOf(blocks: readonly Closed[]): Usual {
  const [seconds, times] = [new Seconds(0), newHistogram()];
  for (const { proposedMs, closedMs } of blocks.filter(({ isFinal }) => isFinal)) {
    seconds.count('accepted', closedMs);
    seconds.response(closedMs - proposedMs, closedMs);
    record(times, closedMs - proposedMs);
  }
  return { seconds: seconds.result(), times };
}

const describeSelector = ({ group, count, share }: Selector): string => {
  const part = share === undefined ? count : `${100 * share} %`;
  return part === undefined ? (group ?? 'all') : `${part} of ${group ?? 'all'}`;
};

/**
 * @param base run without the faults, whose times they are compared with. Without it, the times of
 * the same run outside of its faults.
 * @throws {StoreError} if a folder contains no finished run.
 */
export async function readSimulatedFaults(
  folder: string,
  base?: string,
): Promise<NonNullable<LoadResult['faults']>> {
  const { scenario, virtual_ms } = readResult(folder);
  const plans = scenario.faults.map(({ kind, start_ms, length_ms, whom }, index) => ({
    ...{ name: `${index}`, action: kind, server: whom.map(describeSelector).join(', ') },
    ...{ atMs: start_ms, durationMs: length_ms },
  }));
  const blocks = await readClosed(folder);
  // A block that is open when a fault ends shows its effect until it expires.
  const settleMs = Math.max(10_000, scenario.consensus.voting_period_ms);
  const faults = new FaultRecord(plans, 0, { startMs: 0, endMs: virtual_ms }, settleMs);
  for (const { isFinal, proposedMs, closedMs } of blocks) {
    faults.completed(isFinal, proposedMs, closedMs);
  }
  const without = base === undefined ? undefined : usualOf(await readClosed(base));
  return faults.result(usualOf(blocks).seconds, virtual_ms, without).faults ?? [];
}
