/** Alliances that became active: how many, how large, how long; and who is in one now. */
import type { EventData } from '../../../engine/internal.js';
import { Mean } from '../statistics.js';

interface Active {
  /** Since before the warm-up ended: in no measure. */
  old: boolean;
  since: number;
  largest: number;
  members: readonly string[];
}

export class Alliances {
  readonly #active = new Map<string, Active>();
  readonly #over: { largest: number; lifetimeMs: number }[] = [];

  /** How many there are now. */
  get active(): number {
    return this.#active.size;
  }

  /** Ids of those that are active now. */
  get ids(): string[] {
    return [...this.#active.keys()];
  }

  update({ alliance_id: id, status, members }: EventData['alliance_update'], at: number): void {
    const known = this.#active.get(id);
    if (status === 'active') {
      const joined = members.filter(({ role }) => role !== 'invited').map((member) => member.id);
      const largest = Math.max(known?.largest ?? 0, joined.length);
      const { old = false, since = at } = known ?? {};
      this.#active.set(id, { old, since, largest, members: joined });
    } else if (known) {
      this.#active.delete(id);
      if (!known.old) this.#over.push({ largest: known.largest, lifetimeMs: at - known.since });
    }
  }

  /** Those so far are in no measure; who is in one is known all the same. */
  forget(): void {
    this.#over.length = 0;
    for (const one of this.#active.values()) one.old = true;
  }

  /** In how many active ones each agent is now, by id. */
  memberships(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { members } of this.#active.values()) {
      for (const id of members) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }

  measures(endMs: number) {
    const size = new Mean();
    const lifetime = new Mean();
    const counted = [...this.#active.values()].filter(({ old }) => !old);
    const still = counted.map(({ largest, since }) => ({
      largest,
      lifetimeMs: endMs - since,
    }));
    for (const { largest, lifetimeMs } of [...this.#over, ...still]) {
      size.add(largest);
      lifetime.add(lifetimeMs);
    }
    return {
      alliances: this.#over.length + still.length,
      alliance_size_mean: size.value,
      alliance_lifetime_mean_ms: lifetime.value,
      alliances_at_end: still.length,
    };
  }
}
