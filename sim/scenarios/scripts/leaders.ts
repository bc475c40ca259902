/** Measures of leader failures: slots without a block, and the longest gap between two blocks. */
import type { ScriptModule } from 'folkmoot/sim';

/** Computes the measures. The parameters repeat the scenario's fault and slots. */
export const report: ScriptModule['report'] = ({ group, groups: [leaders], blocks }) => {
  if (!group) return null;
  const { start_ms, length_ms, slot_ms } = leaders!.parameters as Record<string, number>;
  const final = blocks.filter(({ status }) => status === 'finalized');
  const times = final.map(({ proposedMs }) => proposedMs - start_ms!);
  const during = times.filter((time) => time >= 0 && time < length_ms!).length;
  const gaps = times.slice(1).map((time, index) => time - times[index]!);
  return {
    missed_share: 1 - during / (length_ms! / slot_ms!),
    // The first block has no predecessor.
    longest_gap_ms: gaps.length === 0 ? null : Math.max(...gaps),
  };
};
