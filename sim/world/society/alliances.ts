/** Who is allied with whom. Members hear of each other at once: it is agreed between them. */
import type { EventData } from '../../../engine/internal.js';

export class Alliances {
  /** Of those who have any: most agents have none. */
  readonly #allies = new Map<number, Set<number>>();
  readonly #own = new Map<number, Set<string>>();
  readonly #members = new Map<string, number[]>();
  /** Of those that are proposed: who is in already. */
  readonly #founders = new Map<string, number[]>();
  readonly #ordinalOf: (agentId: string) => number;

  constructor(ordinalOf: (agentId: string) => number) {
    this.#ordinalOf = ordinalOf;
  }

  of(agent: number): readonly string[] {
    return [...(this.#own.get(agent) ?? [])];
  }

  alliesOf(agent: number): ReadonlySet<number> | undefined {
    return this.#allies.get(agent);
  }

  membersOf(alliance: string): readonly number[] {
    return this.#members.get(alliance) ?? this.#founders.get(alliance) ?? [];
  }

  update({ alliance_id, status, members }: EventData['alliance_update']): void {
    const before = this.#members.get(alliance_id) ?? [];
    const joined = members.filter(({ role }) => role !== 'invited');
    const inIt = joined.map(({ id }) => this.#ordinalOf(id)).filter((ordinal) => ordinal >= 0);
    const after = status === 'active' ? inIt : [];
    if (status === 'proposed') this.#founders.set(alliance_id, inIt);
    else this.#founders.delete(alliance_id);
    for (const agent of before) this.#own.get(agent)?.delete(alliance_id);
    for (const agent of after) {
      const own = this.#own.get(agent) ?? new Set();
      this.#own.set(agent, own.add(alliance_id));
    }
    if (after.length > 0) this.#members.set(alliance_id, after);
    else this.#members.delete(alliance_id);
    for (const agent of new Set([...before, ...after])) this.#refresh(agent);
  }

  #refresh(agent: number): void {
    const allies = new Set<number>();
    for (const id of this.#own.get(agent) ?? []) {
      for (const member of this.#members.get(id) ?? []) if (member !== agent) allies.add(member);
    }
    if (allies.size > 0) this.#allies.set(agent, allies);
    else this.#allies.delete(agent);
  }
}
