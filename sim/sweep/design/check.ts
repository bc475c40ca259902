/** Whether a design can be meant, before anything of it is run. */
import { measures, sweepTables } from '../../measure/dictionary.js';
import { ScenarioError } from '../../scenario/problem.js';
import type { Factor, Sweep } from '../../scenario/schema/sweep.js';
import { cellsPerSample, columnOf } from './cells.js';

const taken = new Set([measures, ...Object.values(sweepTables)].flatMap((one) => Object.keys(one)));

/** @throws {ScenarioError} naming the first thing in the design that cannot be meant. */
export function checkDesign(sweep: Sweep): void {
  const { design, factors } = sweep;
  const sampled = cellsPerSample(sweep) > 0;
  const columns = new Set<string>();
  for (const [index, factor] of factors.entries()) {
    const problem =
      pathProblem(factor, columns) ??
      (sampled ? rangeProblem(factor) : valuesProblem(factor, factors[0]!, design));
    if (problem) throw new ScenarioError(`sweep.factors.${index} (${factor.path}) ${problem}`);
    columns.add(columnOf(factor)).add(factor.path);
  }
  const problem =
    responsesProblem(sweep) ??
    samplesProblem(sweep, sampled) ??
    untilProblem(sweep) ??
    baselineProblem(sweep, sampled);
  if (problem) throw new ScenarioError(`sweep.${problem}`);
}

/** What a script reports is known when it has run. */
const isMeasure = (name: string) => name in measures || /^reported\.\S/.test(name);

function responsesProblem({ responses }: Sweep): string | null {
  const unknown = responses.find((name) => !isMeasure(name));
  if (unknown === undefined) return null;
  const expected = `expected some of ${Object.keys(measures).join(', ')}, or reported.NAME`;
  return `responses: ${unknown} is no measure; ${expected}`;
}

const samplesAre: Partial<Record<Sweep['design'], string>> = {
  lhs: 'how many the Latin hypercube has',
  morris: 'how many trajectories there are, 10 or more',
  sobol: 'how many rows a matrix has, such as 64, 128, 256',
};

function samplesProblem({ design, samples, levels }: Sweep, sampled: boolean): string | null {
  if (sampled && samples === undefined) return `samples is missing; expected ${samplesAre[design]}`;
  if (!sampled && samples !== undefined) {
    return `samples is for the designs lhs, morris and sobol; this one is ${design}`;
  }
  if (levels === undefined) return null;
  if (design !== 'morris') return `levels is for the design morris; this one is ${design}`;
  return levels % 2 === 0 ? null : `levels is ${levels}; expected an even number`;
}

function untilProblem({ design, until, responses }: Sweep): string | null {
  if (!until) return null;
  const { half_width: width, percent, response = responses[0]! } = until;
  if (design === 'morris' || design === 'sobol') {
    return `until is for the mean of a cell; with the design ${design}, raise samples`;
  }
  if ((width === undefined) === (percent === undefined)) {
    return 'until has both or none of half_width and percent; expected one of them';
  }
  return isMeasure(response) ? null : `until.response: ${response} is no measure`;
}

function baselineProblem({ design, baseline, factors }: Sweep, sampled: boolean): string | null {
  if (!baseline) return null;
  if (sampled)
    return `baseline is for the designs grid and list; samples of ${design} share no luck`;
  const names = factors.map(columnOf);
  const expected = `expected a value of each of ${names.join(', ')}`;
  const unknown = Object.keys(baseline).find((name) => !names.includes(name));
  if (unknown !== undefined) return `baseline: ${unknown} is no factor; ${expected}`;
  const missing = names.find((name) => !(name in baseline));
  return missing === undefined ? null : `baseline: ${missing} is missing; ${expected}`;
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
    const designs = 'for the designs lhs, morris and sobol';
    return `has from, to or whole, which are ${designs}; expected values for ${design}`;
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
