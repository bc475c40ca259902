/** What a case is: a name, what it measures, how much of it in each size, and the work itself. */
import type { Row } from './result.js';

export const sizes = ['small', 'large'] as const;
export type Size = (typeof sizes)[number];

/** What a case is given beside its configuration. */
export interface Round {
  /** One core's raw verifications a second, measured just before. */
  r: number;
  /** Keys follow from it. */
  seed: string;
}

export interface CaseOf<C> {
  name: string;
  /** One sentence for `--help` and the docs. */
  about: string;
  /** Whether it is worth a median: measured in every round; otherwise in the first one. */
  everyRound?: boolean;
  /** Measured only where `--case` names it: all others are done in four minutes. */
  byName?: boolean;
  sizes: Record<Size, C>;
  run(configuration: C, round: Round): Promise<Row[]>;
}

/** A case whose configuration is its own affair. */
export interface Case {
  name: string;
  about: string;
  everyRound: boolean;
  byName: boolean;
  run(size: Size, round: Round): Promise<Row[]>;
}

export function defineCase<C>(given: CaseOf<C>): Case {
  const { name, about, everyRound = false, byName = false, sizes: of, run } = given;
  return {
    name,
    about,
    everyRound,
    byName,
    run: (size, round) => run(of[size], round),
  };
}
