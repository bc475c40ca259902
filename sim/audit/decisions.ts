/**
 * Audit of the decisions that scripts state for the slots of their protocols. An honest agent
 * decides once for a slot, and no two honest agents decide differently (the agreement property of
 * consensus). Integers may differ by the tolerance of the slot: the smallest one that an honest
 * agent states for it (approximate agreement). A decision without a tolerance states 0. The audit
 * uses the statements only and knows no protocol.
 */
import type { SlotDecision } from '../agents/port.js';

export const MOST_SLOTS = 100_000;

/** Violation of agreement: a decision and the earlier decision that it contradicts. */
export interface Contradiction {
  name: 'CONFLICTING_DECISIONS' | 'CHANGED_DECISION';
  /** Slot and values as canonical JSON. */
  slot: string;
  value: string;
  earlier: { value: string; agent: number; at: number };
  /** Decisions so far, and the tolerance, if an agent has stated one. */
  range: (Range & { tolerance: number }) | null;
}

interface Range {
  least: number;
  most: number;
}

interface Slot {
  /** Distinct values. Decisions refer to them by index. */
  values: string[];
  /** Each honest agent's decision. */
  decisions: Map<number, { value: number; at: number }>;
  first: { agent: number; at: number };
  lastAt: number;
  /** Least and greatest decision; null if one is not an integer. */
  range: Range | null;
  /** Smallest stated tolerance. */
  tolerance: number;
  isApproximate: boolean;
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
    { slot, value, tolerance, honest }: SlotDecision,
    at: number,
  ): Contradiction | 'TOO_MANY_SLOTS' | null {
    if (!honest) return null;
    const known = this.#slots.get(slot);
    if (!known) {
      if (this.#slots.size === MOST_SLOTS) return 'TOO_MANY_SLOTS';
      this.#slots.set(slot, opened(agent, { value, tolerance }, at));
      return null;
    }
    const own = known.decisions.get(agent);
    if (own) {
      if (known.values[own.value] === value) return null;
      this.#contradict(known);
      const earlier = { value: known.values[own.value]!, agent, at: own.at };
      return { name: 'CHANGED_DECISION', slot, value, earlier, range: null };
    }
    known.decisions.set(agent, { value: indexOf(value, known.values), at });
    known.lastAt = at;
    known.range = widened(known.range, value);
    known.tolerance = Math.min(known.tolerance, tolerance ?? 0);
    known.isApproximate ||= tolerance !== null;
    if (known.isSplit || agrees(known)) return null;
    known.isSplit = true;
    this.#contradict(known);
    const earlier = { value: known.values[0]!, ...known.first };
    const { range, tolerance: most } = known;
    const stated = known.isApproximate && range ? { ...range, tolerance: most } : null;
    return { name: 'CONFLICTING_DECISIONS', slot, value, earlier, range: stated };
  }

  /** @param from time before which a slot's first decision excludes the slot; null excludes all. */
  measures(from: number | null) {
    let [slots, decisions, conflicts, spreadMs] = [0, 0, 0, 0];
    let spread: number | null = null;
    for (const slot of this.#slots.values()) {
      const { first, lastAt, decisions: stated, inConflict, range } = slot;
      if (from === null || first.at < from) continue;
      if (range) spread = Math.max(spread ?? 0, range.most - range.least);
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
      slot_values_spread: spread,
    };
  }

  #contradict(slot: Slot): void {
    if (!slot.inConflict) this.#conflicts += 1;
    slot.inConflict = true;
  }
}

const opened = (
  agent: number,
  { value, tolerance }: Pick<SlotDecision, 'value' | 'tolerance'>,
  at: number,
): Slot => ({
  values: [value],
  range: widened({ least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY }, value),
  tolerance: tolerance ?? 0,
  isApproximate: tolerance !== null,
  decisions: new Map([[agent, { value: 0, at }]]),
  first: { agent, at },
  lastAt: at,
  inConflict: false,
  isSplit: false,
});

/** Adds a value to a range; returns null if one of them is not an integer. */
function widened(range: Range | null, value: string): Range | null {
  const number = /^-?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!range || !Number.isSafeInteger(number)) return null;
  return { least: Math.min(range.least, number), most: Math.max(range.most, number) };
}

const agrees = ({ values, range, tolerance }: Slot): boolean =>
  values.length === 1 || (range !== null && range.most - range.least <= tolerance);

/** Returns the index of a value, and appends the value if it is missing. */
function indexOf(value: string, values: string[]): number {
  const known = values.indexOf(value);
  return known < 0 ? values.push(value) - 1 : known;
}
