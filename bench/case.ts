/**
 * A benchmark case: its name, its subject, its sizes, and its work. One schema defines the result
 * type, the `--json` file format and its validation.
 */
import { type Static, Type } from '../engine/protocol/bundled/typebox.js';

export const sizes = ['small', 'large'] as const;
export type Size = (typeof sizes)[number];

/** Inputs to a case in addition to its configuration. */
export interface Round {
  /** Raw verifications per second on one core, measured just before the case. */
  r: number;
  seed: string;
}

interface CaseOf<C> {
  name: string;
  /** One sentence for `--help` and the docs. */
  about: string;
  /**
   * True to measure the case in every round, for a median; false to measure it only in the first
   * round.
   */
  everyRound?: boolean;
  sizes: Record<Size, C>;
  run(configuration: C, round: Round): Promise<Row[]>;
}

export interface Case {
  name: string;
  about: string;
  everyRound: boolean;
  run(size: Size, round: Round): Promise<Row[]>;
}

export function defineCase<C>(given: CaseOf<C>): Case {
  const { name, about, everyRound = false, sizes: of, run } = given;
  return { name, about, everyRound, run: (size, round) => run(of[size], round) };
}

const strictly = { additionalProperties: false } as const;
const about = (description: string) => ({ description });
const optional = (description: string) => Type.Optional(Type.Number(about(description)));

/** A figure: a rate or a value with its unit, plus its reference. */
const figure = {
  name: Type.String(about('name of the figure')),
  per_s: optional('rate per second'),
  value: optional('value, if the figure is not a rate'),
  unit: Type.Optional(Type.String(about('of value'))),
  of_r: optional('per_s relative to R'),
  ratio: optional('ratio of the two rates in the name; over rounds, the median'),
  wanted: optional('goal of the ratio'),
  allowed: optional('upper limit of the value'),
  cpu_us: optional('CPU time per item over all threads, microseconds'),
  cores: optional('cores of the server; the text shows these rows as one line'),
  idle: optional('share of time in which the threads of the verifier pool did not run'),
  note: Type.Optional(Type.String(about('note, such as a verdict of the load tester'))),
};

export const Row = Type.Object(figure, strictly);
export type Row = Static<typeof Row>;

export const BenchResult = Type.Object(
  {
    format: Type.Literal('folkmoot-bench-2'),
    machine: Type.String(about('cores x model, memory, kernel')),
    cpu: Type.String(about('model of the processor')),
    node: Type.String(),
    commit: Type.String(about('of folkmoot, or unknown')),
    seed: Type.String(about('source of the keys')),
    size: Type.Enum(['small', 'large']),
    rounds: Type.Integer({ minimum: 1, description: 'rounds of the medians' }),
    seconds: Type.Number(about('total duration')),
    r: Type.Number(about('raw libsodium verifications per second of one core, median')),
    r_rounds: Type.Array(
      Type.Number(),
      about('R of each round, to detect a change of machine speed'),
    ),
    cases: Type.Array(
      Type.Object({ case: Type.String(about('name of the case in --case')), ...figure }, strictly),
    ),
  },
  { ...strictly, $id: 'folkmoot-bench-2', title: 'Result of npm run bench' },
);
export type BenchResult = Static<typeof BenchResult>;
