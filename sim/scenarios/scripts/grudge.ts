/**
 * A strategy for `kind: script` that approves sound blocks and holds a grudge against producers of
 * unsound blocks. For functions that are missing here, such as produce, the agent follows its
 * personality.
 */
import type { ScriptModule } from 'folkmoot/sim';

/** Called after the agent's thinking time. The returned commands are performed. */
export const vote: ScriptModule['vote'] = ({ block, memory, parameters }) => {
  if (!block) return null;
  // Preserved between calls: the number of blocks still to reject, by producer.
  const grudges = memory as Record<string, number>;
  const patience = Number(parameters.patience ?? 1);
  const left = grudges[block.producer] ?? 0;
  if (block.soundness < 100) {
    grudges[block.producer] = patience;
    return { do: 'vote', decision: 'reject', reason: 'it does not add up' };
  }
  if (left === 0) return { do: 'vote', decision: 'approve' };
  grudges[block.producer] = left - 1;
  return { do: 'vote', decision: 'reject', reason: 'I have not forgotten the last one' };
};

/** Called when the agent receives a block. Sometimes posts a remark, then waits before voting. */
export const hear: ScriptModule['hear'] = ({ block, memory }, rng) => {
  const angry = block !== null && Number(memory[block.producer] ?? 0) > 0;
  const thinks = { do: 'wait', ms: 200 + rng.int(2_000) } as const;
  if (!angry || !rng.chance(0.1)) return thinks;
  return [{ do: 'say', stance: 'reject', message: 'Remember what they did last time.' }, thinks];
};
