/**
 * The blocks of a run. What voting needs is kept while a block is open; a closed block leaves a few
 * figures, however many voted.
 */
import type { BlockStatus, Decision, EventData } from '../../../engine/internal.js';
import type { ContentNote } from '../../agents/port/notes.js';
import { NOBODY, type Population } from './population.js';

/** Contents of proposals on their way: one that is refused never comes, so the oldest go. */
const CONTENTS = 10_000;

export interface BlockFigure {
  /** Counts the blocks of the run, from 0. */
  readonly number: number;
  readonly hash: string;
  readonly proposedAt: number;
  /** Null when nobody told. */
  readonly soundness: number | null;
  readonly hasMeme: boolean;
  /** Proposed in the warm-up: no measure counts it. */
  readonly warmup: boolean;
  votes: number;
  status: BlockStatus;
  /** 0 while in voting. */
  closedAt: number;
}

/** A block on which an eye is kept. */
export interface Watched {
  hash: string;
  /** What became of it; null while it is open. */
  status: BlockStatus | null;
  /** Alliances that were active when it was proposed; null until then. */
  alliances: readonly string[] | null;
}

/** Votes of a block, by group number; outsiders are in the totals alone. */
export interface Ballot {
  votes: number;
  approvals: number;
  readonly votesBy: Uint32Array;
  readonly approvalsBy: Uint32Array;
}

export interface MeasuredBlock {
  readonly figure: BlockFigure;
  readonly ballot: Ballot;
  readonly producer: number;
  readonly senders: readonly number[];
}

export class Blocks {
  readonly #population: Population;
  readonly #open = new Map<string, MeasuredBlock>();
  readonly #contents = new Map<string, ContentNote>();
  readonly figures: BlockFigure[] = [];

  constructor(population: Population) {
    this.#population = population;
  }

  publish(note: ContentNote): void {
    this.#contents.set(note.block, note);
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > CONTENTS && oldest !== undefined) this.#contents.delete(oldest);
  }

  propose(data: EventData['block_proposal'], at: number, warmup: boolean): MeasuredBlock {
    const hash = data.block_hash;
    const content = this.#contents.get(hash);
    this.#contents.delete(hash);
    const groups = this.#population.groups.length;
    const figure: BlockFigure = {
      number: this.figures.length,
      hash,
      proposedAt: at,
      soundness: content?.soundness ?? null,
      hasMeme: Object.keys(data.meme_content).length > 0,
      warmup,
      votes: 0,
      status: 'voting',
      closedAt: 0,
    };
    const ballot = {
      votes: 0,
      approvals: 0,
      votesBy: new Uint32Array(groups),
      approvalsBy: new Uint32Array(groups),
    };
    const producer = this.#population.ordinalOf(data.producer.id);
    const block = { figure, ballot, producer, senders: content?.senders ?? [] };
    this.#open.set(hash, block);
    this.figures.push(figure);
    return block;
  }

  /** An open block; undefined for one that was proposed before anybody listened. */
  get(hash: string): MeasuredBlock | undefined {
    return this.#open.get(hash);
  }

  close(hash: string, status: BlockStatus, at: number): MeasuredBlock | undefined {
    const block = this.#open.get(hash);
    if (!block) return undefined;
    this.#open.delete(hash);
    block.figure.status = status;
    block.figure.closedAt = at;
    return block;
  }
}

export function countVote(block: MeasuredBlock, group: number, decision: Decision): void {
  const { figure, ballot } = block;
  const approves = decision === 'approve' ? 1 : 0;
  figure.votes += 1;
  ballot.votes += 1;
  ballot.approvals += approves;
  if (group === NOBODY) return;
  ballot.votesBy[group]! += 1;
  ballot.approvalsBy[group]! += approves;
}
