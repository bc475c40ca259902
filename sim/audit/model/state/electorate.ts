/** Who votes on the next block, with what weight; drawn up again only when that has changed. */
import type { Agent, Electorate, State } from './state.js';

/** By `alliance_bonus`: 100, and 2 for each of the first five allies among the electors. */
const BASE = 100;
const BONUS = 2;
const BONUS_ALLIES = 5;

export function electorateNow(state: State): Electorate {
  state.electorate ??= drawUp(state);
  return state.electorate;
}

const isActive = ({ validator, status }: Agent) => validator && status === 'active';
const votes = (agent: Agent) => isActive(agent) && !agent.dormant;

/** What each active validator would weigh if nobody were dormant. */
export function fullWeights(state: State): Map<Agent, number> {
  const active = state.agents.filter(isActive);
  return new Map(active.map((agent) => [agent, weigh(state, agent, isActive)]));
}

function drawUp(state: State): Electorate {
  const weights = new Uint8Array(state.agents.length);
  const groups = new Map<string, number>();
  let total = 0;
  let heads = 0;
  for (const agent of state.agents) {
    if (!votes(agent)) continue;
    const weight = weigh(state, agent, votes);
    weights[agent.number] = weight;
    total += weight;
    heads += 1;
    groups.set(agent.personality, (groups.get(agent.personality) ?? 0) + 1);
  }
  return { weights, total, heads, groups };
}

/** `counts`: which allies bring a bonus. */
function weigh({ genesis }: State, agent: Agent, counts: (ally: Agent) => boolean): number {
  if (genesis.weights === 'equal') return 1;
  if (genesis.weights === 'reputation') return reputationWeight(agent.scores.overall);
  const allies = new Set<Agent>();
  for (const { members } of agent.alliances) {
    for (const ally of members) {
      if (ally !== agent && counts(ally)) allies.add(ally);
      if (allies.size === BONUS_ALLIES) return BASE + BONUS * BONUS_ALLIES;
    }
  }
  return BASE + BONUS * allies.size;
}

export const reputationWeight = (overall: number): number =>
  Math.max(1, Math.trunc(overall / 10_000));

/** Somebody came into the electorate of the next block, or went. */
export function standingChanged(state: State, agent: Agent): void {
  if (agent.validator) state.electorate = null;
}

export function scoreChanged(state: State, before: number, after: number): void {
  if (state.genesis.weights !== 'reputation' || before === after) return;
  if (reputationWeight(before) !== reputationWeight(after)) state.electorate = null;
}

export function alliancesChanged(state: State): void {
  if (state.genesis.weights === 'alliance_bonus') state.electorate = null;
}
