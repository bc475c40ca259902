/** Whether voters agree: the chance that two of them, drawn from one block, decided alike. */
import { Mean, share } from '../statistics.js';
import type { Ballot } from './blocks.js';

/** Ordered pairs of different things out of so many. */
const pairs = (count: number) => count * (count - 1);
const alike = (votes: number, approvals: number) => pairs(approvals) + pairs(votes - approvals);

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

  /** A closed block; `approved` is null when it was neither finalized nor rejected. */
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
