/**
 * Findings about the scripts of a run: decisions that contradict each other, and commands without
 * effect. A finding never ends the run. Only the first finding of each name is kept in full, so the
 * size of the findings does not depend on the length of the run.
 */
import type { IgnoredWhy } from '../agents/port.js';
import { type Contradiction, MOST_SLOTS } from './decisions.js';

/** Names of findings with their meanings, as in the documentation. */
export const findingTexts = {
  CONFLICTING_DECISIONS:
    'two honest agents decided differently for one slot, counted once for each slot; the verdict ' +
    'is conflict',
  CHANGED_DECISION:
    'an honest agent decided again for a slot, with a different value; its first decision ' +
    'stands, and the verdict is conflict',
  TOO_MANY_SLOTS: `more than ${MOST_SLOTS} slots; the decision is ignored`,
  VALUE_TOO_LARGE: 'the value of `decide` is too large; the decision is ignored',
  BLOCK_NOT_OPEN:
    'the agent knows no block in voting with the hash that the command names; the ' +
    'command is ignored',
  NOTE_TOO_LARGE: 'the note of `wake` is too large; the call is not scheduled',
  UNKNOWN_WAKE: 'no call of `wake` with the name in `cancel` is pending',
} as const satisfies Record<IgnoredWhy | Contradiction['name'] | 'TOO_MANY_SLOTS', string>;

/** Name of a finding. @useDeclaredType */
export type FindingName = keyof typeof findingTexts;

/** Findings with one name. */
export interface Finding {
  name: FindingName;
  /** Number of findings with this name. */
  count: number;
  /** Name of the agent in the first one. */
  agent: string;
  /** Run time of the first one in milliseconds. */
  at_ms: number;
  /** Description of the first one. */
  detail: string;
}

export class Findings {
  readonly #found = new Map<FindingName, Finding>();

  add({ name, ...first }: Omit<Finding, 'count'>): void {
    const known = this.#found.get(name);
    if (known) known.count += 1;
    else this.#found.set(name, { name, count: 1, ...first });
  }

  get all(): Finding[] {
    return [...this.#found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}
