/**
 * A case of the benchmark: its name, what it measures, how much of it in each size, and the work
 * itself. One schema gives the type of a result, the file of `--json` and its check.
 */
import { type Static, Type } from '../engine/protocol/bundled/typebox.js';

export const sizes = ['small', 'large'] as const;
export type Size = (typeof sizes)[number];

/** What a case is given beside its configuration. */
export interface Round {
  /** One core's raw verifications a second, measured just before. */
  r: number;
  /** Keys follow from it. */
  seed: string;
}

interface CaseOf<C> {
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

const strictly = { additionalProperties: false } as const;
const about = (description: string) => ({ description });
const optional = (description: string) => Type.Optional(Type.Number(about(description)));

/** One figure: a rate, or a value with its unit; and what it is measured against. */
const figure = {
  name: Type.String(about('what was measured')),
  per_s: optional('how often a second, where the figure is a rate'),
  value: optional('the figure, where it is no rate'),
  unit: Type.Optional(Type.String(about('of value'))),
  of_r: optional('per_s as a share of R'),
  of_previous: optional('per_s as a share of the tier before'),
  ratio: optional('of the two rates in the name; in rounds, the median of their ratios'),
  wanted: optional('what the ratio should reach'),
  allowed: optional('what the value should not exceed'),
  cpu_us: optional('CPU time of each, microseconds, of all threads that did it'),
  idle: optional('share of the time that the threads of the verifier pool did not run'),
  note: Type.Optional(
    Type.String(about('what must be known beside: a verdict of the load tester')),
  ),
  batch_sizes: Type.Optional(
    Type.Array(Type.Number(), about('batches by size: slot k counts 2^k to 2^(k+1) - 1')),
  ),
};

export const Row = Type.Object(figure, strictly);
export type Row = Static<typeof Row>;

export const BenchResult = Type.Object(
  {
    format: Type.Literal('folkmoot-bench-1'),
    machine: Type.String(about('cores x model, memory, kernel')),
    cpu: Type.String(about('model of the processor')),
    node: Type.String(),
    commit: Type.String(about('of folkmoot, or unknown')),
    seed: Type.String(about('keys follow from it')),
    size: Type.Enum(['small', 'large']),
    rounds: Type.Integer({ minimum: 1, description: 'rounds that medians are taken over' }),
    seconds: Type.Number(about('that all of it took')),
    r: Type.Number(about("one core's raw libsodium verifications a second: the median")),
    r_rounds: Type.Array(Type.Number(), about('R of each round: whether the machine moved')),
    tiers: Type.Array(
      Type.Object(
        { name: Type.String(), per_s: Type.Number(), of_r: Type.Number() },
        { ...strictly, ...about('the same votes through ever more of the server') },
      ),
    ),
    cases: Type.Array(
      Type.Object({ case: Type.String(about('its name in --case')), ...figure }, strictly),
    ),
  },
  { ...strictly, $id: 'folkmoot-bench-1', title: 'What npm run bench measured' },
);
export type BenchResult = Static<typeof BenchResult>;
