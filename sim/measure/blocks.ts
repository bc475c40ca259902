/**
 * Blocks in a run, voter agreement, and outcomes. Counts of votes by group are kept only while a
 * block is open. A closed block keeps a constant number of figures.
 */
import type { EventData } from '../../engine/protocol/schema/event.js';
import type { BlockStatus, Decision } from '../../engine/protocol/schema/primitives.js';
import type { ContentNote } from '../agents/port.js';
import type { Measures } from './dictionary.js';
import { NOT_IN_POPULATION, type Population } from './population.js';
import { Mean, percentile, share } from './statistics.js';

/** Limit on stored proposal contents. The oldest are deleted: refused ones are never claimed. */
const CONTENTS = 10_000;

export interface BlockFigure {
  /** Block number, from 0. */
  readonly number: number;
  readonly hash: string;
  readonly proposedAt: number;
  /** Null if unknown. */
  readonly soundness: number | null;
  readonly hasMeme: boolean;
  /** True if the block was proposed during the warm-up and is excluded from all measures. */
  readonly warmup: boolean;
  votes: number;
  status: BlockStatus;
  /** Time of closing; 0 while the block is in voting. */
  closedAt: number;
}

export interface WatchedBlock {
  hash: string;
  /** Final status; null while the block is open. */
  status: BlockStatus | null;
  /** Alliances active at the proposal; null before the proposal. */
  alliances: readonly string[] | null;
}

/** Votes on a block by group. Agents outside the population count only in the totals. */
interface Ballot {
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
  readonly #open = new Map<string, MeasuredBlock>();
  readonly #contents = new Map<string, ContentNote>();
  readonly figures: BlockFigure[] = [];

  constructor(private readonly population: Population) {}

  publish(note: ContentNote): void {
    this.#contents.set(note.block, note);
    const [oldest] = this.#contents.keys();
    if (this.#contents.size > CONTENTS && oldest !== undefined) this.#contents.delete(oldest);
  }

  propose(data: EventData['block_proposal'], at: number, warmup: boolean): MeasuredBlock {
    const hash = data.block_hash;
    const content = this.#contents.get(hash);
    this.#contents.delete(hash);
    const groups = this.population.groups.length;
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
    const producer = this.population.ordinalOf(data.producer.id);
    const block = { figure, ballot, producer, senders: content?.senders ?? [] };
    this.#open.set(hash, block);
    this.figures.push(figure);
    return block;
  }

  /** Returns an open block. Undefined if the block was proposed before the collector started. */
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
  if (group === NOT_IN_POPULATION) return;
  ballot.votesBy[group]! += 1;
  ballot.approvalsBy[group]! += approves;
}

const pairs = (count: number) => count * (count - 1);
const alike = (votes: number, approvals: number) => pairs(approvals) + pairs(votes - approvals);

/** Probability that two random voters on a block agree. */
export class Agreement {
  readonly #all = new Mean();
  readonly #within = new Mean();
  readonly #between = new Mean();
  readonly #groups: { agreement: Mean; decided: number; won: number }[];

  constructor(groups: number) {
    this.#groups = Array.from({ length: groups }, () => ({
      agreement: new Mean(),
      decided: 0,
      won: 0,
    }));
  }

  get all() {
    return this.#all.value;
  }

  get within() {
    return this.#within.value;
  }

  get between() {
    return this.#between.value;
  }

  /** Adds a closed block. `approved` is null unless the block was finalized or rejected. */
  add({ votes, approvals, votesBy, approvalsBy }: Ballot, approved: boolean | null): void {
    if (votes >= 2) this.#all.add(alike(votes, approvals) / pairs(votes));
    let inside = 0;
    let insideAlike = 0;
    let grouped = 0;
    let groupedApprovals = 0;
    for (const [index, group] of this.#groups.entries()) {
      const count = votesBy[index]!;
      const yes = approvalsBy[index]!;
      inside += pairs(count);
      insideAlike += alike(count, yes);
      grouped += count;
      groupedApprovals += yes;
      if (count >= 2) group.agreement.add(alike(count, yes) / pairs(count));
      if (approved === null || 2 * yes === count) continue;
      group.decided += 1;
      if (2 * yes > count === approved) group.won += 1;
    }
    const across = pairs(grouped) - inside;
    if (inside > 0) this.#within.add(insideAlike / inside);
    if (across > 0) this.#between.add((alike(grouped, groupedApprovals) - insideAlike) / across);
  }

  ofGroup(group: number): { agreement: number | null; wonShare: number | null } {
    const { agreement, decided, won } = this.#groups[group]!;
    return { agreement: agreement.value, wonShare: share(won, decided) };
  }
}

/** Outcomes and times to finality. */
export class Outcomes {
  readonly #finalityMs: number[] = [];
  readonly #sound = { closed: 0, finalized: 0 };
  readonly #unsound = { closed: 0, finalized: 0 };

  add({ status, soundness, proposedAt, closedAt }: BlockFigure): void {
    const finalized = status === 'finalized';
    if (finalized) this.#finalityMs.push(closedAt - proposedAt);
    if (soundness === null) return;
    const kind = soundness === 100 ? this.#sound : this.#unsound;
    kind.closed += 1;
    if (finalized) kind.finalized += 1;
  }

  measures() {
    const sorted = Float64Array.from(this.#finalityMs).sort();
    const mean = new Mean();
    for (const value of sorted) mean.add(value);
    return {
      sound_finalized_share: share(this.#sound.finalized, this.#sound.closed),
      unsound_finalized_share: share(this.#unsound.finalized, this.#unsound.closed),
      finality_mean_ms: mean.value,
      finality_p50_ms: percentile(sorted, 50),
      finality_p95_ms: percentile(sorted, 95),
      finality_p99_ms: percentile(sorted, 99),
    } satisfies Partial<Measures>;
  }
}
