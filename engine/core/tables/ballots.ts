/**
 * The votes of one open block, by position in its electorate, and what they come to. Kept beside
 * the actor, not in it: a vote sends nothing.
 */
import type { Decision } from '../../protocol/schema/index.js';
import type { QuorumRule, Tally } from '../quorum.js';
import type { Agents } from './agents.js';
import type { Electorate } from './electorate.js';

const codes = { approve: 1, reject: 2 } as const;
/** Electors of one personality that can veto together. */
const SMALLEST_GROUP = 3;

export class Ballots {
  readonly electorate: Electorate;
  readonly #tally: Tally;
  readonly #rule: QuorumRule;
  readonly #agents: Agents;
  readonly #choices: Uint8Array;
  readonly #rejections = new Map<string, number>();
  /** Groups in which somebody approved: they can no longer veto. */
  readonly #split = new Set<string>();
  /** Positions of the voters that referred to each meme. */
  readonly references = new Map<string, number[]>();

  constructor(rule: QuorumRule, electorate: Electorate, agents: Agents) {
    this.electorate = electorate;
    this.#rule = rule;
    this.#agents = agents;
    const { total } = electorate;
    const electors = electorate.agents.length;
    this.#tally = { approve: 0, reject: 0, total, voted: 0, electors, vetoed: false };
    this.#choices = new Uint8Array(electors);
  }

  /** Of all votes so far. */
  get tally(): Readonly<Tally> {
    return this.#tally;
  }

  choice(position: number): Decision | null {
    const code = this.#choices[position];
    if (code === codes.approve) return 'approve';
    return code === codes.reject ? 'reject' : null;
  }

  /** Takes a vote, which must be the first of its voter. */
  cast(position: number, decision: Decision, references: readonly string[]): void {
    this.#choices[position] = codes[decision];
    this.#tally[decision] += this.electorate.weights[position]!;
    this.#tally.voted += 1;
    for (const meme of references) {
      const voters = this.references.get(meme);
      if (voters) voters.push(position);
      else this.references.set(meme, [position]);
    }
    const { personality } = this.#agents.at(this.electorate.agents[position]!);
    if (decision === 'approve') this.#split.add(personality);
    else if (this.#rejectsAsOne(personality)) this.#tally.vetoed = this.#rule.policy === 'veto';
  }

  /** Votes that the group nearest to a veto still lacks; infinite when none can. */
  closestVeto(): number {
    let closest = Number.POSITIVE_INFINITY;
    for (const [personality, size] of this.electorate.groups) {
      if (size < SMALLEST_GROUP || this.#split.has(personality)) continue;
      closest = Math.min(closest, size - (this.#rejections.get(personality) ?? 0));
    }
    return closest;
  }

  /** Positions that have voted, ascending. */
  *voters(): Iterable<number> {
    for (const [position, code] of this.#choices.entries()) if (code !== 0) yield position;
  }

  /** Counts one more rejection; whether by it all of a personality group have rejected. */
  #rejectsAsOne(personality: string): boolean {
    const rejections = (this.#rejections.get(personality) ?? 0) + 1;
    this.#rejections.set(personality, rejections);
    const size = this.electorate.groups.get(personality) ?? 0;
    return size >= SMALLEST_GROUP && rejections === size;
  }
}
