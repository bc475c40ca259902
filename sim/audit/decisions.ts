/**
 * Audit of the decisions that scripts state for the slots of their protocols. An honest agent
 * decides once for a slot, and no two honest agents decide differently (the agreement property of
 * consensus). The audit uses the statements only and knows no protocol.
 */
import type { SlotDecision } from '../agents/port.js';

/** Limit on audited slots. */
export const MOST_SLOTS = 100_000;

/** Violation of agreement: a decision and the earlier decision that it contradicts. */
export interface Contradiction {
  name: 'CONFLICTING_DECISIONS' | 'CHANGED_DECISION';
  /** Slot and values as canonical JSON. */
  slot: string;
  value: string;
  earlier: { value: string; agent: number; at: number };
}

interface Slot {
  /** Distinct values. Decisions refer to them by index. */
  values: string[];
  /** Each honest agent's decision. */
  decisions: Map<number, { value: number; at: number }>;
  first: { agent: number; at: number };
  lastAt: number;
  /** Two honest agents have decided differently, or one has changed its decision. */
  inConflict: boolean;
  /** Two honest agents have decided differently. */
  isSplit: boolean;
}

export class DecisionAudit {
  readonly #slots = new Map<string, Slot>();
  #conflicts = 0;

  /** Number of slots with decisions of honest agents. */
  get slots(): number {
    return this.#slots.size;
  }

  /** Number of slots in which honest agents contradict each other or themselves. */
  get conflicts(): number {
    return this.#conflicts;
  }

  /**
   * Observes a decision. Only an agent's first decision for a slot counts. Repeated decisions and
   * decisions of agents that are not honest have no effect.
   */
  observe(
    agent: number,
    { slot, value, honest }: SlotDecision,
    at: number,
  ): Contradiction | 'TOO_MANY_SLOTS' | null {
    if (!honest) return null;
    const known = this.#slots.get(slot);
    if (!known) {
      if (this.#slots.size === MOST_SLOTS) return 'TOO_MANY_SLOTS';
      this.#slots.set(slot, opened(agent, value, at));
      return null;
    }
    const own = known.decisions.get(agent);
    if (own) {
      if (known.values[own.value] === value) return null;
      this.#contradict(known);
      const earlier = { value: known.values[own.value]!, agent, at: own.at };
      return { name: 'CHANGED_DECISION', slot, value, earlier };
    }
    known.decisions.set(agent, { value: indexOf(value, known.values), at });
    known.lastAt = at;
    if (known.values[0] === value || known.isSplit) return null;
    known.isSplit = true;
    this.#contradict(known);
    const earlier = { value: known.values[0]!, ...known.first };
    return { name: 'CONFLICTING_DECISIONS', slot, value, earlier };
  }

  /** @param from time before which a slot's first decision excludes the slot; null excludes all. */
  measures(from: number | null) {
    let [slots, decisions, conflicts, spreadMs] = [0, 0, 0, 0];
    for (const { first, lastAt, decisions: stated, inConflict } of this.#slots.values()) {
      if (from === null || first.at < from) continue;
      slots += 1;
      decisions += stated.size;
      conflicts += Number(inConflict);
      spreadMs += lastAt - first.at;
    }
    return {
      slots_decided: slots,
      slot_decisions: decisions,
      slot_conflicts: conflicts,
      slot_spread_mean_ms: slots === 0 ? null : spreadMs / slots,
    };
  }

  #contradict(slot: Slot): void {
    if (!slot.inConflict) this.#conflicts += 1;
    slot.inConflict = true;
  }
}

const opened = (agent: number, value: string, at: number): Slot => ({
  values: [value],
  decisions: new Map([[agent, { value: 0, at }]]),
  first: { agent, at },
  lastAt: at,
  inConflict: false,
  isSplit: false,
});

/** Returns the index of a value, and appends the value if it is missing. */
function indexOf(value: string, values: string[]): number {
  const known = values.indexOf(value);
  return known < 0 ? values.push(value) - 1 : known;
}
