/** One operator with keys that join in waves. Each key rejects every block at once. */
import type { ScriptModule } from 'folkmoot/sim';

export const start: ScriptModule['start'] = ({ shared }) => {
  shared.keys = Number(shared.keys ?? 0) + 1;
  return null;
};

export const hear: ScriptModule['hear'] = () => ({ do: 'wait', ms: 1 });

export const vote: ScriptModule['vote'] = ({ shared }) => ({
  do: 'vote',
  decision: 'reject',
  reason: `one of ${shared.keys}`,
});

/** Reports the largest electorate that finalized a block, and the smallest that did not. */
export const report: ScriptModule['report'] = ({ group, blocks, groups: [sybils] }) => {
  if (!group) return null;
  const of = (final: boolean) =>
    blocks
      .filter(({ status }) => status !== 'voting' && (status === 'finalized') === final)
      .map(({ electorate }) => electorate);
  const largest = Math.max(0, ...of(true));
  const smallest = of(false).length > 0 ? Math.min(...of(false)) : null;
  return {
    keys: Number(sybils!.shared.keys ?? 0),
    largest_final: largest,
    smallest_stopped: smallest,
  };
};
