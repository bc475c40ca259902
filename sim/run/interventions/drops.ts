/** Proposals that are kept from arriving: of blocks and of alliances, by number or by id. */
import type { Command } from '../../../engine/internal.js';
import type { Named } from '../../scenario/schema/interventions/interventions.js';
import type { Numbers } from './numbers.js';

export interface Dropped {
  of: 'blocks' | 'alliances';
  named: Named;
  /** Requests that were kept out: one, and its copies. */
  did: number;
}

export class Drops {
  readonly #numbers: Numbers;
  readonly #drops: Dropped[] = [];
  readonly #out = new Map<string, Dropped>();

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
  }

  add(drop: Dropped): void {
    this.#drops.push(drop);
  }

  /** `accepted`: whether the network would take it, so that it would have a number. */
  keepsOut(command: Command, accepted: () => boolean): boolean {
    if (this.#drops.length === 0) return false;
    const proposed = proposedBy(command);
    if (!proposed) return false;
    const { of, id } = proposed;
    const before = this.#out.get(id);
    const drop = before ?? this.#dropOf(of, id);
    if (!drop || (!before && !accepted())) return false;
    if (!before) this.#numbers[of].push('');
    this.#out.set(id, drop);
    drop.did += 1;
    return true;
  }

  #dropOf(of: Dropped['of'], id: string): Dropped | undefined {
    const number = this.#numbers[of].length;
    return this.#drops.find((one) => one.of === of && (one.named === number || one.named === id));
  }
}

function proposedBy(command: Command): { of: Dropped['of']; id: string } | null {
  if (command.kind === 'propose') return { of: 'blocks', id: command.block_hash };
  if (command.kind === 'alliance_propose') return { of: 'alliances', id: command.alliance_id };
  return null;
}
