/** What rows need to know of blocks: their numbers, who proposed them, what votes weigh. */
import {
  type Genesis,
  neededToFinalize,
  type RecordOf,
  StoreError,
  type Views,
} from '../../../../engine/internal.js';
import type { BlockRow } from '../../index.js';
import type { Roster } from './roster.js';

/** Closed blocks whose numbers are kept at hand: remarks may come late. */
const REMEMBERED = 256;

export interface OpenBlock {
  number: number;
  producer: number;
  electorate: number;
}

export class Blocks {
  readonly #read: Views;
  readonly #genesis: Genesis;
  readonly #roster: Roster;
  /** By hash, those in voting and the last others; the oldest first. */
  readonly #known = new Map<string, OpenBlock>();
  readonly #weights = new Map<number, ReadonlyMap<number, number>>();

  constructor(read: Views, genesis: Genesis, roster: Roster) {
    this.#read = read;
    this.#genesis = genesis;
    this.#roster = roster;
  }

  /** @throws {StoreError} `CORRUPT` where there is none. */
  of(hash: string): OpenBlock {
    const known = this.#known.get(hash);
    if (known) return known;
    const { ordinal, producer, electorate } = this.#context(hash);
    const block = { number: ordinal, producer: this.#roster.numberOf(producer), electorate };
    this.#known.set(hash, block);
    if (this.#known.size > REMEMBERED) this.#known.delete(this.#known.keys().next().value!);
    return block;
  }

  /** What a proposal introduces; the record of a block has all of it to its end. */
  introduced(hash: string): BlockRow {
    const context = this.#context(hash);
    const unvoted = { ...context, approve: 0, reject: 0, voted: 0, vetoed: false };
    return {
      number: context.ordinal,
      hash,
      parent: context.parent_hash,
      height: context.height,
      producer: this.#roster.numberOf(context.producer),
      transactions: context.transactions,
      total: context.total,
      electors: context.electors,
      needed: neededToFinalize(this.#genesis, unvoted),
      proposed_at: context.proposed_at,
      deadline: context.deadline,
      entry: context.entry,
    };
  }

  /** What an agent's vote on a block counts. */
  weight({ electorate, number }: OpenBlock, agent: number): number {
    if (this.#genesis.weights === 'equal') return 1;
    const weight = this.#weightsOf(electorate).get(agent);
    if (weight !== undefined) return weight;
    throw new StoreError('CORRUPT', `agent ${agent} is not in the electorate of block ${number}`);
  }

  #weightsOf(electorate: number): ReadonlyMap<number, number> {
    const known = this.#weights.get(electorate);
    if (known) return known;
    const record = this.#read.record('electorates', electorate);
    if (!record) throw new StoreError('CORRUPT', `there is no electorate ${electorate}`);
    const { agents, weights } = record;
    const made = new Map(agents.map((agent, index) => [agent, weights[index]!]));
    this.#weights.set(electorate, made);
    if (this.#weights.size > 16) this.#weights.delete(this.#weights.keys().next().value!);
    return made;
  }

  #context(hash: string): RecordOf['blocks']['context'] {
    const record = this.#read.record('blocks', hash);
    if (!record) throw new StoreError('CORRUPT', `no block has the hash ${hash}`);
    return record.context;
  }
}
