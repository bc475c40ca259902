/** Misses and dormancy: who let blocks expire, and how much of the network may sleep for it. */
import { fullWeights, standingChanged } from './electorate.js';
import type { Agent, Block, State } from './state.js';

const MOST_MISSED = 1_000_000;

/** A block has expired: each elector that was silent has missed it, once for what overlapped. */
export function countMisses(state: State, block: Block): void {
  const { dormant_after } = state.genesis;
  if (dormant_after === 0) return;
  const { stall } = state;
  if (block.proposedAt >= stall.countedAt) {
    stall.periods += 1;
    stall.countedAt = block.closedAt;
  }
  const tired: Agent[] = [];
  for (const [number, weight] of block.electorate.weights.entries()) {
    if (weight === 0) continue;
    const agent = state.agents[number]!;
    const isPresent = block.marks[number] !== 0;
    if (!isPresent && (block.proposedAt < agent.countedAt || isVoting(state, agent))) continue;
    agent.missed = isPresent ? 0 : Math.min(MOST_MISSED, agent.missed + 1);
    agent.countedAt = block.closedAt;
    if (agent.missed >= dormant_after) tired.push(agent);
  }
  putToSleep(state, tired);
}

/** Whether its vote stands in a block that is open still. */
const isVoting = ({ open }: State, { number }: Agent): boolean =>
  [...open.values()].some(({ marks }) => (marks[number] ?? 0) !== 0);

/** As many as there is room for: the longest silent first, those that came first before others. */
function putToSleep(state: State, tired: Agent[]): void {
  const weights = fullWeights(state);
  let whole = 0;
  let sleeping = 0;
  for (const [agent, weight] of weights) {
    whole += weight;
    if (agent.dormant) sleeping += weight;
  }
  const room = mostSleeping(state, whole);
  const inOrder = tired.sort((a, b) => b.missed - a.missed || a.number - b.number);
  for (const agent of inOrder) {
    const weight = weights.get(agent);
    if (agent.dormant || weight === undefined) continue;
    if (sleeping + weight > room) continue;
    sleeping += weight;
    setDormant(state, agent, true);
  }
}

/** A share of the whole, and of what is left the same share again for each long standstill. */
function mostSleeping({ genesis, stall }: State, whole: number): number {
  const { dormant_share_max, leak_periods } = genesis;
  let awake = whole - Math.floor((whole * dormant_share_max) / 10_000);
  let left = leak_periods > 0 ? Math.floor(stall.periods / leak_periods) : 0;
  while (left > 0 && awake > 0 && dormant_share_max > 0) {
    awake -= Math.ceil((awake * dormant_share_max) / 10_000);
    left -= 1;
  }
  return whole - awake;
}

export function setDormant(state: State, agent: Agent, dormant: boolean): void {
  agent.dormant = dormant;
  standingChanged(state, agent);
}
