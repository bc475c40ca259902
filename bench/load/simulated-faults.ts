/** Faults of a simulated run, whose arrivals are blocks and whose responses are their finality. */
import { parseNumber, tableRows } from '../../report/folder.js';
import { readResult } from '../../sim/compare/runs.js';
import { completeScenario } from '../../sim/scenario/complete.js';
import type { Selector } from '../../sim/scenario/schema/network.js';
import { FaultRecord } from './faults.js';
import { newHistogram, record, type Usual } from './percentiles.js';
import type { LoadResult } from './result.js';

/** A block that voting ended, with times in milliseconds of the run. */
interface Closed {
  isFinal: boolean;
  proposedMs: number;
  closedMs: number;
}

async function readClosed(folder: string, endMs: number): Promise<Closed[]> {
  const blocks: Closed[] = [];
  for await (const { status, proposed_ms, closed_ms, warmup } of tableRows(folder, 'blocks.csv')) {
    const [proposedMs, closedMs] = [parseNumber(proposed_ms), parseNumber(closed_ms)];
    if (warmup === '1' || proposedMs === null || closedMs === null) continue;
    if (!(proposedMs >= 0 && closedMs >= proposedMs && closedMs <= endMs)) continue;
    blocks.push({ isFinal: status === 'finalized', proposedMs, closedMs });
  }
  return blocks.sort((a, b) => a.closedMs - b.closedMs);
}

/** Times from the proposal to finality: all of them, and those of each second that has some. */
function usualOf(blocks: readonly Closed[]): Usual {
  const times = newHistogram();
  const bySecond = new Map<number, number[]>();
  for (const { proposedMs, closedMs } of blocks.filter(({ isFinal }) => isFinal)) {
    const second = Math.floor(closedMs / 1_000);
    const own = bySecond.get(second) ?? [];
    own.push(closedMs - proposedMs);
    bySecond.set(second, own);
    record(times, closedMs - proposedMs);
  }
  const seconds = [...bySecond].map(([second, own]) => {
    const sorted = own.sort((a, b) => a - b);
    const at = (percent: number) => sorted[Math.ceil((percent / 100) * own.length) - 1]!;
    const percentiles = { response_p50: at(50), response_p95: at(95), response_p99: at(99) };
    return { second, accepted: own.length, ...percentiles };
  });
  return { seconds, times };
}

const describeSelector = ({ group, count, share }: Selector): string => {
  const part = share === undefined ? count : `${100 * share} %`;
  return part === undefined ? (group ?? 'all') : `${part} of ${group ?? 'all'}`;
};

/**
 * @param base run without the faults (default: the times of this run outside of its faults) @throws
 * {StoreError} without a finished run @throws {ScenarioError} if its scenario is invalid
 */
export async function readSimulatedFaults(
  folder: string,
  base?: string,
): Promise<NonNullable<LoadResult['faults']>> {
  const { scenario: kept, virtual_ms } = readResult(folder);
  const scenario = completeScenario(kept);
  const plans = scenario.faults.map(({ kind, start_ms, length_ms, whom }, index) => ({
    ...{ name: `${index}`, action: kind, server: whom.map(describeSelector).join(', ') },
    ...{ atMs: start_ms, durationMs: length_ms },
  }));
  const blocks = await readClosed(folder, virtual_ms);
  // A block that is open when a fault ends shows its effect until it expires.
  const settleMs = Math.max(10_000, scenario.consensus.voting_period_ms);
  const faults = new FaultRecord(plans, 0, { startMs: 0, endMs: virtual_ms }, settleMs);
  for (const { isFinal, proposedMs, closedMs } of blocks) {
    faults.completed(isFinal, proposedMs, closedMs);
  }
  const endMs = base === undefined ? 0 : readResult(base).virtual_ms;
  const without = base === undefined ? undefined : usualOf(await readClosed(base, endMs));
  return faults.result(usualOf(blocks).seconds, virtual_ms, without).faults ?? [];
}
