/**
 * A strategy for `kind: script`: approves blocks that add up, and bears a grudge against producers
 * of blocks that did not. What is left out here, such as producing, follows the personality.
 */
import type { ScriptModule } from 'folkmoot/sim';

/** Called when the agent has thought about a block: what it gives, the agent does. */
export const vote: ScriptModule['vote'] = ({ block, memory, parameters }) => {
  if (!block) return null;
  // Notes that it finds again at its next call: how many more blocks it rejects, by producer.
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

/** Called when it hears of a block: here it says so aloud, now and then, and thinks for a while. */
export const hear: ScriptModule['hear'] = ({ block, memory }, rng) => {
  const angry = block !== null && Number(memory[block.producer] ?? 0) > 0;
  const thinks = { do: 'wait', ms: 200 + rng.int(2_000) } as const;
  if (!angry || !rng.chance(0.1)) return thinks;
  return [{ do: 'say', stance: 'reject', message: 'Remember what they did last time.' }, thinks];
};
