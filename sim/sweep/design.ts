/** The design of a sweep: which combinations of values are run, and with which seeds. */
import { measures, sweepTables } from '../measure/dictionary.js';
import { ScenarioError } from '../scenario/problem.js';
import type { Factor, Sweep } from '../scenario/schema/sweep.js';
import { type FactorValue, hypercube } from './hypercube.js';

/** One combination. */
export interface Cell {
  /** From 1. */
  number: number;
  /** Of each factor, in the order of the design. */
  values: readonly FactorValue[];
}

export const columnOf = ({ name, path }: Factor): string => name ?? path;

/** The same in each cell, so that cells differ by their values and not by their luck. */
export const seedOf = (seed: string, replicate: number): string => `${seed}/${replicate}`;

export function countCells({ design, factors, samples }: Sweep): number {
  const lengths = factors.map(({ values }) => values?.length ?? 0);
  if (design === 'lhs') return samples ?? 0;
  if (design === 'list') return lengths[0] ?? 0;
  return lengths.reduce((product, length) => product * length, 1);
}

/** Made one after another: a grid may have more cells than memory holds. */
export function* cellsOf(sweep: Sweep, seed: string): Generator<Cell> {
  const { design, factors } = sweep;
  const count = countCells(sweep);
  const sample = design === 'lhs' ? hypercube(factors, count, seed) : null;
  for (let index = 0; index < count; index += 1) {
    const values = sample?.(index) ?? chosen(design, factors, index);
    yield { number: index + 1, values };
  }
}

/** In a grid the last factor varies fastest. */
function chosen(design: Sweep['design'], factors: readonly Factor[], index: number) {
  if (design === 'list') return factors.map(({ values }) => values![index]!);
  let rest = index;
  const reversed = factors.toReversed().map((factor) => {
    const values = factor.values!;
    const value = values[rest % values.length]!;
    rest = Math.floor(rest / values.length);
    return value;
  });
  return reversed.reverse();
}

const taken = new Set(
  [measures, sweepTables['runs.csv'], sweepTables['summary.csv']].flatMap((one) =>
    Object.keys(one),
  ),
);

/** @throws {ScenarioError} naming the first thing in the design that cannot be meant. */
export function checkDesign({ design, factors, samples, responses }: Sweep): void {
  const columns = new Set<string>();
  for (const [index, factor] of factors.entries()) {
    const problem =
      pathProblem(factor, columns) ??
      (design === 'lhs' ? rangeProblem(factor) : valuesProblem(factor, factors[0]!, design));
    if (problem) throw new ScenarioError(`sweep.factors.${index} (${factor.path}) ${problem}`);
    columns.add(columnOf(factor)).add(factor.path);
  }
  const unknown = responses.find((name) => !(name in measures));
  if (unknown !== undefined) {
    const expected = `expected some of ${Object.keys(measures).join(', ')}`;
    throw new ScenarioError(`sweep.responses: ${unknown} is no measure; ${expected}`);
  }
  if (design === 'lhs' && samples === undefined) {
    throw new ScenarioError('sweep.samples is missing; expected how many the Latin hypercube has');
  }
  if (design !== 'lhs' && samples !== undefined) {
    throw new ScenarioError(`sweep.samples is for the design lhs; this one is ${design}`);
  }
}

function pathProblem(factor: Factor, columns: ReadonlySet<string>): string | null {
  if (columns.has(factor.path) || columns.has(columnOf(factor))) return 'is there a second time';
  if (factor.path === 'seed') return 'cannot be varied: replicates do that';
  if (factor.path.split('.')[0] === 'sweep') return 'cannot be varied: it is the sweep';
  if (!taken.has(columnOf(factor))) return null;
  return `would be the column ${columnOf(factor)}, which is there already; give it another name`;
}

function valuesProblem({ values, from, to, whole }: Factor, first: Factor, design: string) {
  if (from !== undefined || to !== undefined || whole !== undefined) {
    return `has from, to or whole, which are for the design lhs; expected values for ${design}`;
  }
  if (!values) return `has no values; the design ${design} needs them`;
  const expected = first.values?.length;
  if (design !== 'list' || values.length === expected) return null;
  return `has ${values.length} values, the first factor ${expected}; a list needs as many of each`;
}

function rangeProblem({ values, from, to, whole }: Factor): string | null {
  if (values) {
    const both = from !== undefined || to !== undefined || whole !== undefined;
    return both ? 'has values and a range; expected one of them' : null;
  }
  if (from === undefined || to === undefined) return 'needs values, or from and to';
  if (from > to) return `goes from ${from} to ${to}; expected from to be at most to`;
  if (!whole || (Number.isSafeInteger(from) && Number.isSafeInteger(to))) return null;
  return `is whole and goes from ${from} to ${to}; expected whole numbers`;
}
