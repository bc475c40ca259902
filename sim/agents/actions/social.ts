/** Life beside blocks: breaks, invitations, and leaving alliances. */
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeStatus,
} from '../../../engine/internal.js';
import type { Stream } from '../../rng.js';
import type { ScriptedAgent } from '../port/agent.js';
import type { World } from '../port/world.js';

/** The share of occasions on which an agent goes away, or leaves an alliance. */
const BREAKS = 0.01;
const LEAVES = 0.15;

/** Whether something happens on an occasion: its share of them times a rate of the scenario. */
export function happens(rng: Stream, share: number, rate: number): boolean {
  return rng.chance(Math.min(1, share * rate));
}

/** Each occasion has a stream of its own: what happens on it shifts no later one. */
export function socialize(agent: ScriptedAgent, world: World): void {
  const rng = agent.rng('life', { place: agent.ordinal, number: agent.occasions });
  const { breaks } = world.scenario.social;
  const tired = happens(rng, BREAKS, breaks.rate);
  if (agent.onBreak) comeBack(agent, world);
  else if (tired) goAway(agent, world);
  else ally(agent, world, rng);
}

function ally(agent: ScriptedAgent, world: World, rng: Stream): void {
  const { most, rate } = world.scenario.social.alliances;
  if (rate === 0) return;
  const own = world.alliancesOf(agent.ordinal);
  if (own.length > 0 && rng.chance(LEAVES)) {
    leave(agent, world, rng.pick(own));
  } else if (own.length < most && happens(rng, agent.personality.invites, rate)) {
    invite(agent, world, drawn(agent, world, rng));
  }
}

export function goAway(agent: ScriptedAgent, world: World): void {
  if (agent.onBreak) return;
  agent.onBreak = true;
  const status = agent.rng('breaks').chance(0.5) ? 'inactive' : 'maintenance';
  sendStatus(agent, world, { status, reason: 'a break', expected_duration: 'PT1M' });
}

export function comeBack(agent: ScriptedAgent, world: World): void {
  if (!agent.onBreak) return;
  agent.onBreak = false;
  sendStatus(agent, world, { status: 'active', reason: 'back again' });
}

/** Tells the network its status. */
export function sendStatus(
  agent: ScriptedAgent,
  world: World,
  fields: Parameters<typeof composeStatus>[3],
): void {
  const id = world.agentId(agent.ordinal);
  world.send(agent.ordinal, composeStatus(agent.by, world.stamp(agent.ordinal), id, fields));
}

/** Some neighbours, by chance. */
function drawn(agent: ScriptedAgent, world: World, rng: Stream): number[] {
  const neighbours = world.neighbours(agent.ordinal);
  const { invited } = world.scenario.social.alliances;
  const count = Math.min(neighbours.length, 1 + rng.int(invited));
  return Array.from({ length: count }, () => rng.pick(neighbours));
}

/** Founds an alliance with others; does nothing without any. */
export function invite(agent: ScriptedAgent, world: World, others: readonly number[]): void {
  const wanted = new Set(others.filter((other) => other !== agent.ordinal));
  if (wanted.size === 0) return;
  const { duration_ms } = world.scenario.social.alliances;
  const fields = {
    target_ids: [...wanted].map((other) => world.agentId(other)),
    purpose: 'to vote as one',
    duration: `PT${Math.round(duration_ms / 1000)}S`,
  };
  const stamp = world.stamp(agent.ordinal);
  world.send(agent.ordinal, composeAlliancePropose(agent.by, stamp, fields));
}

export function leave(agent: ScriptedAgent, world: World, alliance: string): void {
  const stamp = world.stamp(agent.ordinal);
  world.send(agent.ordinal, composeAllianceLeave(agent.by, stamp, alliance));
}

export function answer(
  agent: ScriptedAgent,
  world: World,
  alliance: string,
  accepted: boolean,
): void {
  const stamp = world.stamp(agent.ordinal);
  world.send(agent.ordinal, composeAllianceRespond(agent.by, stamp, alliance, accepted));
}
