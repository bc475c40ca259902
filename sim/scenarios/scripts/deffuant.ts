/**
 * Bounded confidence (Deffuant, Neau, Amblard and Weisbuch 2000): two neighbours whose opinions
 * differ by less than `confidence` both move to the midpoint. Opinions are integers, and both move
 * by the same amount, so the mean stays the same. An agent that waits for an answer does not move
 * for others: it answers with a move of 0. It asks again until an answer arrives, and an agent
 * answers a repeated question with the same move. Only after eight questions without an answer,
 * such as to a crashed agent, it asks another one; then the mean may change.
 */
import type { ScriptModule } from 'folkmoot/sim';

const PACE_MS = 2_000;
const MOST_QUESTIONS = 8;
/** Units of an opinion: the scale from 0 to 1. */
const UNIT = 1_000_000_000;

interface Notes {
  opinion: number;
  first: number;
  asked: { id: number; to: number; questions: number; isOpen: boolean };
  /** Last answer to each agent. */
  answers: Record<number, { id: number; move: number }>;
}

export const start: ScriptModule['start'] = ({ memory }, rng) => {
  const first = rng.int(UNIT + 1);
  const asked = { id: 0, to: 0, questions: 0, isOpen: false };
  if (!('first' in memory)) Object.assign(memory, { first, opinion: first, asked, answers: {} });
  return { do: 'wake', ms: 1 + rng.int(PACE_MS) };
};

/** Sends the opinion to a random neighbour, or again to the one that has not answered. */
export const wake: ScriptModule['wake'] = ({ memory, neighbours }, rng) => {
  const notes = memory as unknown as Notes;
  const { id, questions, isOpen } = notes.asked;
  if (isOpen && questions < MOST_QUESTIONS) notes.asked.questions += 1;
  else notes.asked = { id: id + 1, to: rng.pick(neighbours), questions: 1, isOpen: true };
  const content = { id: notes.asked.id, opinion: notes.opinion };
  return [
    { do: 'wake', ms: PACE_MS / 2 + rng.int(PACE_MS) },
    { do: 'send', to: [notes.asked.to], content },
  ];
};

/** Moves, and answers with the opposite move. */
export const receive: ScriptModule['receive'] = ({ memory, message, parameters }) => {
  const notes = memory as unknown as Notes;
  const { asked, answers } = notes;
  const { from, content } = message!;
  const { id, move, opinion = 0 } = content as { id: number; move?: number; opinion?: number };
  if (move !== undefined) {
    if (!asked.isOpen || id !== asked.id) return null;
    asked.isOpen = false;
    notes.opinion += move;
    return null;
  }
  const last = answers[from] ?? { id: 0, move: 0 };
  if (id < last.id) return null;
  const distance = opinion - notes.opinion;
  const isFree = id > last.id && !asked.isOpen;
  const isNear = Math.abs(distance) < Number(parameters.confidence) * UNIT;
  const own = isFree && isNear ? (distance - (distance % 2)) / 2 : 0;
  notes.opinion += own;
  if (id > last.id) answers[from] = { id, move: -own || 0 };
  return { do: 'send', to: [from], content: answers[from] };
};

/**
 * Counts clusters, which are separated by more than 0.01. Clusters of few agents do not count.
 * `mean_drift` is the change of the mean opinion since the start, with moves that are under way.
 */
export const report: ScriptModule['report'] = ({ groups }) => {
  const memories = Object.assign({}, ...groups.map((one) => one.memories)) as Record<number, Notes>;
  const all = Object.values(memories);
  const sorted = all.map(({ opinion }) => opinion / UNIT).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const clusters = [[] as number[]];
  for (const [at, opinion] of sorted.entries()) {
    if (at > 0 && opinion - sorted[at - 1]! > 0.01) clusters.push([]);
    clusters.at(-1)!.push(opinion);
  }
  const large = clusters.filter(({ length }) => length > sorted.length / 20);
  let moved = all.reduce((sum, { opinion, first }) => sum + opinion - first, 0);
  for (const [agent, { asked }] of Object.entries(memories)) {
    const answer = memories[asked.to]?.answers[Number(agent)];
    if (asked.isOpen && answer?.id === asked.id) moved += answer.move;
  }
  return {
    clusters: large.length,
    opinion_range: sorted.at(-1)! - sorted[0]!,
    mean_drift: moved / UNIT / all.length,
  };
};
