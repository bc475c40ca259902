/** Who let a block expire: each elector's misses, and how many of them may fall dormant for it. */
import type { Genesis } from '../protocol/schema/index.js';
import type { State } from './state.js';
import { blockContext, type OpenBlock } from './tables/blocks.js';
import { positionOf } from './tables/electorate.js';

/** Misses beyond are not told apart. */
const MOST_MISSED = 1_000_000;
/** The whole of a share in 1/10,000. */
const WHOLE_BPS = 10_000;

/**
 * Counts an expired block, which has left `state.blocks`. Blocks that are in voting at one time
 * count once: one proposed before the end of the last one counted is no further miss.
 */
export function countAbsences(state: State, block: OpenBlock): void {
  const after = state.genesis.dormant_after;
  if (after === 0) return;
  const { standings, blocks } = state;
  const { ordinal } = blockContext(block);
  if (ordinal >= state.failedBlocks) {
    state.failed += 1;
    state.failedBlocks = blocks.count;
  }
  const open = blocks.open();
  const absent: number[] = [];
  for (const [position, agent] of block.ballots.electorate.agents.entries()) {
    const voted = block.ballots.choice(position) !== null;
    // What has been proposed by now comes too early for the next miss.
    const counted = ordinal < standings.get(agent, 'judged');
    if (!voted && (counted || votesIn(open, agent))) continue;
    const missed = voted ? 0 : Math.min(MOST_MISSED, standings.get(agent, 'missed') + 1);
    standings.set(agent, 'missed', missed);
    standings.set(agent, 'judged', blocks.count);
    if (missed >= after) absent.push(agent);
  }
  if (absent.length > 0) sleep(state, absent);
}

/** Whether it has voted in a block that is still in voting: then it is there. */
function votesIn(open: readonly OpenBlock[], agent: number): boolean {
  return open.some(({ ballots }) => {
    const position = positionOf(ballots.electorate, agent);
    return position >= 0 && ballots.choice(position) !== null;
  });
}

/** Puts to sleep whom the share has room for: who missed most first, then by ordinal. */
function sleep(state: State, absent: number[]): void {
  const { agents, standings, electorates, genesis, failed } = state;
  const active = electorates.active();
  const weights = new Map(active.agents.map((ordinal, at) => [ordinal, active.weights[at]!]));
  let total = 0;
  let asleep = 0;
  for (const [ordinal, weight] of weights) {
    total += weight;
    if (agents.at(ordinal).context.dormant) asleep += weight;
  }
  const most = mostDormant(genesis, total, failed);
  const missed = (ordinal: number) => standings.get(ordinal, 'missed');
  for (const ordinal of absent.sort((a, b) => missed(b) - missed(a) || a - b)) {
    const agent = agents.at(ordinal);
    const weight = weights.get(ordinal);
    if (weight === undefined || agent.context.dormant || asleep + weight > most) continue;
    asleep += weight;
    agents.send(agent, { type: 'slept' });
    electorates.electorsChanged();
  }
}

/** The weight that may be dormant, out of that of all active validators. */
export function mostDormant(
  { dormant_share_max: share, leak_periods }: Genesis,
  total: number,
  failed: number,
): number {
  let most = Math.trunc((total * share) / WHOLE_BPS);
  if (leak_periods === 0 || share === 0) return most;
  // Rounded up, so that also of a few the last ones can go.
  for (let leaks = Math.trunc(failed / leak_periods); leaks > 0 && most < total; leaks -= 1) {
    most += Math.ceil(((total - most) * share) / WHOLE_BPS);
  }
  return most;
}
