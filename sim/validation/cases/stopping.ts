/** Sweeps that stop by precision: how often the interval at which a cell stopped holds the mean. */
import { ln } from '../../numbers/logarithm.js';
import { type Stream, Streams } from '../../rng.js';
import { Sample, statisticsOf } from '../../sweep/index.js';
import { levelOf, Replicates } from '../../sweep/stopping.js';
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { shareInterval } from '../interval.js';

const WIDTHS = [0.45, 0.35, 0.3] as const;
const LEAST = 0.94;

const exponential = (rng: Stream) => -ln(1 - rng.real());

/** Both have the mean 1. */
const families = [
  { name: 'exponential', draw: exponential },
  { name: 'gamma of shape 2', draw: (rng: Stream) => (exponential(rng) + exponential(rng)) / 2 },
] as const;

async function rows(size: Size): Promise<Row[]> {
  return families.flatMap((family) => WIDTHS.map((width) => covered(family, width, size)));
}

function covered({ name, draw }: (typeof families)[number], width: number, size: Size): Row {
  const trials = scaled(size, 4_000, 20_000);
  const rng = new Streams('stopping').of('world', `${name}/${width}`);
  let held = 0;
  for (let trial = 0; trial < trials; trial += 1) held += Number(holdsMean(width, () => draw(rng)));
  return {
    what: `${name}, half width ${width}: share of cells whose interval holds the mean`,
    theory: LEAST,
    atLeast: true,
    measured: held / trials,
    interval: shareInterval(held, trials),
    from: `${trials} cells`,
  };
}

/** Runs one cell until it stops, as a sweep does. */
function holdsMean(width: number, draw: () => number): boolean {
  const until = { half_width: width, most: 1_000 };
  const replicates = new Replicates({ replicates: 5, until }, 1);
  const drawn: number[] = [];
  const valuesOf = (_: number, count: number) => {
    while (drawn.length < count) drawn.push(draw());
    return drawn;
  };
  while (replicates.look(valuesOf, 't_log'));
  const { low, high } = statisticsOf(Sample.of(drawn), 't_log', levelOf({ until }));
  return low !== null && high !== null && low <= 1 && 1 <= high;
}

export const stopping: ValidationCase = {
  name: 'stopping',
  about:
    'A sweep adds runs to a cell until its interval is narrow. A fixed 95 % interval holds the ' +
    'mean less often at the run where it became narrow (90.5 % of exponential data). The first ' +
    'look at 30 runs and intervals of 97.5 % at each look make up for that. All runs of a cell ' +
    'are drawn from one distribution with the mean 1; a cell ends at 1,000 runs at most.',
  source:
    'Jennison and Turnbull 1999, Group Sequential Methods with Applications to Clinical Trials; ' +
    'Chow and Robbins 1965, Annals of Mathematical Statistics 36(2) 457-462',
  rows,
};
