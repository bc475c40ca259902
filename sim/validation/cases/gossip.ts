/** How far a meme travels hop by hop, when each agent passes it on with its vote. */
import { type Row, type Size, scaled, type ValidationCase } from '../case.js';
import { meanInterval, meanOf } from '../interval.js';
import { approving, votesOf } from '../runs.js';

const SEATS = 41;

/** One agent makes a meme of each block; all others only pass it on. */
function ring(thinkMs: number, latencyMs: number, blocks: number) {
  const traits = { ...approving, remarks: 0, think_ms: thinkMs };
  return {
    agents: [
      { group: 'poster', count: 1, producers: 1, traits: { ...traits, care: 1, memes: 1 } },
      { group: 'others', count: SEATS - 1, traits: { ...traits, memes: 0 } },
    ],
    producers: { schedule: 'round_robin', block_interval_ms: 3 * thinkMs + 60_000, memes: 0 },
    social: { ...ringSocial, memes: { rate: 1 } },
    topology: { kind: 'ring', degree: 2 },
    links: { latency: { distribution: 'constant', mean_ms: latencyMs, spread_ms: 0 } },
    consensus: { policy: 'majority', dormant_after: 0, voting_period_ms: 2 * thinkMs + 60_000 },
    measure: { every_ms: 3_600_000, votes: true },
    length: { blocks },
  };
}

const ringSocial = {
  discussion: { rate: 0 },
  alliances: { rate: 0 },
  breaks: { rate: 0 },
};

/** Of each block, how many but the poster had received its meme when they voted. */
async function reached(thinkMs: number, latencyMs: number, blocks: number): Promise<number[]> {
  const counts = Array.from({ length: blocks }, () => 0);
  for (const { block, group, memes } of await votesOf(ring(thinkMs, latencyMs, blocks))) {
    if (group === 'others' && memes > 0 && block < blocks) counts[block]! += 1;
  }
  return counts;
}

/** Twice e - 1, cut off where the two sides of the ring meet. */
function chainMean(): number {
  let term = 1;
  let sum = 0;
  for (let hop = 1; hop <= (SEATS - 1) / 2; hop += 1) {
    term /= hop;
    sum += term;
  }
  return 2 * sum;
}

async function rows(size: Size): Promise<Row[]> {
  const atOnce = await reached(0, 50, scaled(size, 3, 20));
  const blocks = scaled(size, 60, 1_000);
  const spread = await reached(100_000, 10, blocks);
  return [
    {
      what: 'all vote at one instant, links of 50 ms: agents reached',
      ...{ theory: 2, measured: meanOf(atOnce), interval: null, from: `${atOnce.length} blocks` },
    },
    {
      what: 'votes spread over 100 s, links of 10 ms: agents reached',
      ...{ theory: chainMean(), measured: meanOf(spread), interval: meanInterval(spread) },
      from: `${blocks} blocks`,
    },
  ];
}

export const gossip: ValidationCase = {
  name: 'gossip',
  about:
    'One of 41 agents on a ring posts a meme; who votes passes on what it has received. If all ' +
    'vote at one instant only its neighbours know it. If votes are spread at random and links ' +
    'are fast, an agent d hops away knows it when the d agents up to it vote in their order, ' +
    'with the chance 1/d!: twice e - 1 agents on the mean.',
  source: 'records of a random permutation; the limit of fast links',
  rows,
};
