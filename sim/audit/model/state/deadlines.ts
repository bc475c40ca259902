/** What happens by itself, and when. What was put off or is over, its owner skips. */
import TinyQueue from 'tinyqueue';

/** At one instant alliances come before blocks, and blocks before metrics. */
const ranks = { alliance: 0, block: 1, metrics: 2 } as const;

export interface Deadline {
  due: number;
  of: keyof typeof ranks;
  /** Of the alliance or block. */
  id: string;
}

function order(a: Deadline, b: Deadline): number {
  if (a.due !== b.due) return a.due - b.due;
  if (a.of !== b.of) return ranks[a.of] - ranks[b.of];
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

export type Deadlines = TinyQueue<Deadline>;
export const newDeadlines = (): Deadlines => new TinyQueue([], order);
