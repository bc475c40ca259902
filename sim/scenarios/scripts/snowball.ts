/**
 * Snowball (Team Rocket, Yin, Sekniqi, van Renesse and Sirer 2019, Scalable and probabilistic
 * leaderless BFT consensus through metastability, figure 3). For each block, an agent repeatedly
 * asks `k` random agents for their preference. A round ends when all of them have answered, or
 * after a timeout. If `alpha` answers agree, their answer gains confidence, and the agent prefers
 * the answer with more confidence. Every other round ends the streak. After `beta` such rounds in a
 * row with one answer, the agent decides, and votes on the block.
 */
import type { ScriptCommand, ScriptFunction, ScriptModule } from 'folkmoot/sim';

type Decision = 'approve' | 'reject';
type View = Parameters<ScriptFunction>[0];
type Stream = Parameters<ScriptFunction>[1];

/** Question about a block, or the answer to it. */
interface Message {
  block: string;
  round: number;
  answer?: Decision;
}
interface Poll {
  prefers: Decision;
  confidence: { approve: number; reject: number };
  /** Number of successful rounds in a row, and their answer. */
  streak: number;
  last: Decision;
  round: number;
  /** Number of agents that are asked in this round, and their answers so far. */
  asked: number;
  answers: Decision[];
  decided: boolean;
}

/** Time after which a round ends without the missing answers. */
const TIMEOUT_MS = 2_000;
const polls = (memory: Record<string, unknown>) => memory as Record<string, Poll>;

/** The first preference is random: approval with probability `approves`. */
export const hear: ScriptFunction = (view, rng) => {
  const prefers = rng.chance(Number(view.parameters.approves)) ? 'approve' : 'reject';
  const confidence = { approve: 0, reject: 0 };
  const poll = { prefers, confidence, streak: 0, last: prefers, round: 0, asked: 0 };
  polls(view.memory)[view.block!.hash] = { ...poll, decided: false } as Poll;
  return ask(view, rng, view.block!.hash);
};

/** Begins a round. Crashed agents, and agents that do not know the block yet, do not answer. */
function ask({ memory, neighbours, parameters }: View, rng: Stream, block: string) {
  const poll = polls(memory)[block]!;
  const to = rng.shuffle(neighbours).slice(0, Number(parameters.k));
  Object.assign(poll, { round: poll.round + 1, asked: to.length, answers: [] });
  return [
    { do: 'send', to, content: { block, round: poll.round } },
    { do: 'wake', ms: TIMEOUT_MS, name: block, note: block },
  ] satisfies ScriptCommand[];
}

/** Repeats the round that a crash has interrupted. */
export const start: ScriptFunction = (view, rng) =>
  Object.entries(polls(view.memory)).flatMap(([block, { decided }]) =>
    decided ? [] : ask(view, rng, block),
  );

export const wake: ScriptFunction = (view, rng) => endRound(view, rng, view.note as string);

export const receive: ScriptFunction = (view, rng) => {
  const { block, round, answer } = view.message!.content as Message;
  const poll = polls(view.memory)[block];
  if (!poll) return null;
  const reply = { block, round, answer: poll.prefers };
  if (!answer) return { do: 'send', to: [view.message!.from], content: reply };
  if (poll.decided || round !== poll.round) return null;
  poll.answers.push(answer);
  if (poll.answers.length < poll.asked) return null;
  return [{ do: 'cancel', name: block }, ...endRound(view, rng, block)];
};

/** Decides, or begins the next round. */
function endRound(view: View, rng: Stream, block: string): ScriptCommand[] {
  const poll = polls(view.memory)[block]!;
  count(poll, Number(view.parameters.alpha));
  if (poll.streak < Number(view.parameters.beta)) return ask(view, rng, block);
  poll.decided = true;
  const decision = poll.prefers;
  const isOpen = view.blocks.some(({ hash }) => hash === block);
  return [
    { do: 'decide', slot: block, value: decision },
    ...(isOpen ? [{ do: 'vote', decision, block } as const] : []),
  ];
}

function count(poll: Poll, alpha: number): void {
  const { confidence, answers } = poll;
  const winner = (['approve', 'reject'] as const).find(
    (one) => answers.filter((answer) => answer === one).length >= alpha,
  );
  if (!winner) {
    poll.streak = 0;
    return;
  }
  confidence[winner] += 1;
  if (confidence[winner] > confidence[poll.prefers]) poll.prefers = winner;
  poll.streak = winner === poll.last ? poll.streak + 1 : 1;
  poll.last = winner;
}

/** Mean and largest number of rounds until a decision, and the share of decisions to approve. */
export const report: ScriptModule['report'] = ({ groups }) => {
  const memories = groups.flatMap((one) => Object.values(one.memories));
  const all = memories.flatMap((memory) => Object.values(polls({ ...memory })));
  const decided = all.filter((poll) => poll.decided);
  if (decided.length === 0) return null;
  const rounds = decided.map(({ round }) => round);
  return {
    rounds_mean: rounds.reduce((sum, one) => sum + one, 0) / rounds.length,
    rounds_most: rounds.reduce((most, one) => Math.max(most, one), 0),
    approved_share: decided.filter(({ prefers }) => prefers === 'approve').length / decided.length,
  };
};
