/**
 * Averaging of opinions (DeGroot 1974, Reaching a consensus): in each round, the new opinion of an
 * agent is the weighted mean of its own opinion and those of its neighbours. Opinions are integers.
 * An agent's first opinion is its place in the group, so that results can be computed by hand.
 */
import type { ScriptFunction, ScriptModule } from 'folkmoot/sim';

/** Units of an opinion: the difference between the first opinions of two agents. */
const UNIT = 1_000_000_000;
/** Rounds are longer than the latency, so opinions arrive in the round in which they are sent. */
const START_MS = 5_000;
const ROUND_MS = 100;
/** An agent decides its opinion after this round, and agrees with opinions that differ less. */
const DECISION = { round: 1_000, tolerance: UNIT / 1_000 };

interface Notes {
  opinion: number;
  sent: number | null;
  /** Latest opinions of neighbours, by ordinal. */
  heard: Record<number, number>;
  rounds: number;
}

export const start: ScriptModule['start'] = ({ me, agentsOf, memory, nowMs }) => {
  const opinion = agentsOf(me.group).indexOf(me.ordinal) * UNIT;
  Object.assign(memory, { sent: null, heard: {}, rounds: 0, opinion, ...memory });
  // All agents act at the same instants, whenever they join or restart.
  const next = ROUND_MS * (Math.floor(nowMs / ROUND_MS) + 1);
  return { do: 'wake', ms: Math.max(START_MS, next) - nowMs };
};

export const wake: ScriptFunction = (view) => {
  const notes = view.memory as unknown as Notes;
  if (notes.sent !== null) notes.opinion = mean(view, notes);
  if (notes.sent !== null) notes.rounds += 1;
  const changed = notes.opinion !== notes.sent;
  notes.sent = notes.opinion;
  const { opinion: value } = notes;
  const { tolerance } = DECISION;
  return [
    { do: 'wake', ms: ROUND_MS },
    ...(notes.rounds === DECISION.round
      ? [{ do: 'decide', slot: 'opinion', value, tolerance } as const]
      : []),
    ...(changed ? [{ do: 'send', content: notes.opinion } as const] : []),
  ];
};

/** Rounds the mean to the nearest integer. All terms are integers below 2^53, so it is exact. */
function mean({ me, agentsOf, parameters }: Parameters<ScriptFunction>[0], notes: Notes): number {
  const rows = parameters.weights as number[][] | undefined;
  const place = (agent: number) => agentsOf(me.group).indexOf(agent);
  const weightOf = (agent: number) => rows?.[place(me.ordinal)]?.[place(agent)] ?? 1;
  const terms = Object.entries({ ...notes.heard, [me.ordinal]: notes.opinion }).map(
    ([agent, opinion]) => ({ weight: weightOf(Number(agent)), opinion }),
  );
  const total = terms.reduce((sum, { weight }) => sum + weight, 0);
  const sum = terms.reduce((all, { weight, opinion }) => all + weight * opinion, 0);
  const rest = sum % total;
  return (sum - rest) / total + (2 * rest >= total ? 1 : 0);
}

export const receive: ScriptFunction = ({ memory, message }) => {
  (memory as unknown as Notes).heard[message!.from] = message!.content as number;
};

export const vote: ScriptModule['vote'] = () => ({ do: 'vote', decision: 'approve' });

/** Opinions in places of the group: the least, the greatest, and their difference. */
export const report: ScriptModule['report'] = ({ groups }) => {
  const all = groups.flatMap(({ memories }) => Object.values(memories));
  const notes = all as unknown as Notes[];
  if (notes.length === 0) return null;
  const sorted = notes.map(({ opinion }) => opinion).sort((a, b) => a - b);
  const [low, high] = [sorted[0]!, sorted.at(-1)!];
  const rounds = Math.min(...notes.map((one) => one.rounds));
  return {
    opinion_least: low / UNIT,
    opinion_most: high / UNIT,
    spread: (high - low) / UNIT,
    rounds,
  };
};
