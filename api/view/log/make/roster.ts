/** Who an agent's number stands for: read once, since registration fixes all of it. */
import { StoreError, type Views } from '../../../../engine/internal.js';
import { type AgentRow, viewLimits } from '../../index.js';

/** A text of others, no longer than a picture takes. */
export const shortened = (text: string) =>
  text.length <= viewLimits.textCharacters ? text : text.slice(0, viewLimits.textCharacters);

export class Roster {
  readonly #read: Views;
  readonly #rows: AgentRow[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(read: Views) {
    this.#read = read;
  }

  /** @throws {StoreError} `CORRUPT` where no agent has this number. */
  at(number: number): AgentRow {
    while (this.#rows.length <= number) this.#readNext();
    return this.#rows[number]!;
  }

  /** @throws {StoreError} `CORRUPT` where an event speaks of somebody who never registered. */
  numberOf(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const ordinal = this.#read.record('agents', id)?.ordinal;
    if (ordinal === undefined) throw new StoreError('CORRUPT', `no agent has the id ${id}`);
    this.at(ordinal);
    return ordinal;
  }

  #readNext(): void {
    const number = this.#rows.length;
    const id = this.#read.record('agent_numbers', number)?.agent_id;
    const profile = id === undefined ? undefined : this.#read.record('agents', id);
    if (!profile) throw new StoreError('CORRUPT', `no agent has the number ${number}`);
    const { agent_id, public_key, name, personality, capabilities } = profile;
    this.#numbers.set(agent_id, number);
    this.#rows.push({
      number,
      id: agent_id,
      public_key,
      name: shortened(name),
      personality: shortened(personality),
      validator: capabilities.includes('validator'),
      producer: capabilities.includes('producer'),
    });
  }
}
