/** Condorcet's jury theorem: a majority of many who are a little better than a coin is right. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { shareInterval } from '../interval.js';
import { blocksOf, finalizedOf, whim, whimOf } from '../runs.js';
import { binomialTail } from '../theory.js';

/** Each is right about a good block with 61 of 101. */
const THRESHOLD = 40;

async function jury(jurors: number, blocks: number): Promise<Row> {
  const raw = {
    agents: [{ group: 'jury', count: jurors, producers: 1, traits: whim(THRESHOLD) }],
    producers: { block_interval_ms: 1_000 },
    consensus: { policy: 'majority', dormant_after: 0 },
    length: { blocks },
  };
  const found = await blocksOf(raw);
  const right = finalizedOf(found);
  return {
    what: `${jurors} jurors, each right with ${whimOf(THRESHOLD).toFixed(4)}: jury right`,
    theory: binomialTail(jurors, whimOf(THRESHOLD), Math.floor(jurors / 2) + 1),
    measured: right / found.length,
    interval: shareInterval(right, found.length),
    from: `${found.length} blocks`,
  };
}

async function rows(size: Size): Promise<Row[]> {
  const found: Row[] = [];
  for (const jurors of [1, 11, 41, 101]) found.push(await jury(jurors, scaled(size, 100, 1_500)));
  return found;
}

export const condorcet: ValidationCase = {
  name: 'condorcet',
  about:
    'Jurors who decide by themselves and are right with more than one half are right together ' +
    'the more often the more they are; the chance is a tail of the binomial distribution.',
  source: 'Condorcet 1785, Essai sur l’application de l’analyse',
  rows,
};
