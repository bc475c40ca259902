/** Messages for each block, by kind, on graphs of three shapes. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { messageComplexity } from '../complexity.js';

async function rows(size: Size): Promise<Row[]> {
  const agents = scaled(size, 12, 50);
  const found = await messageComplexity([agents, 4 * agents]);
  return found.map(({ topology, agents: n, kind, formula, expected, counted }) => ({
    what: `${topology}, n = ${n}: ${kind}, ${formula}`,
    theory: expected,
    measured: counted,
    interval: null,
    from: '3 blocks',
  }));
}

export const complexity: ValidationCase = {
  name: 'complexity',
  about:
    'Messages for each block on which all n agents vote, over links that lose nothing: requests ' +
    'and events grow with n, gossip with the number m of links between agents, so in a complete ' +
    'graph with the square of n.',
  source: 'counting: each vote goes once over every link of its voter, from both of its ends',
  rows,
};
