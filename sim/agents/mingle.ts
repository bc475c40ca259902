/** Life beside blocks: breaks, invitations, and leaving alliances. */
import {
  composeAllianceLeave,
  composeAlliancePropose,
  composeAllianceRespond,
  composeStatus,
  formatInstant,
} from '../../engine/index.js';
import type { World } from '../world.js';
import type { ScriptedAgent } from './agent.js';

const MINGLE_MS = 30_000;
/** Of 1,000 occasions. */
const BREAK_PERMILLE = 10;
const LEAVE_PERMILLE = 150;
const MOST_ALLIANCES = 2;
const MOST_INVITED = 3;

export function mingle(agent: ScriptedAgent, world: World): void {
  const chance = agent.chance('life');
  const next = world.now + MINGLE_MS + chance.int(MINGLE_MS);
  world.wake(agent.ordinal, next, { what: 'mingle' });
  const tired = chance.chance(BREAK_PERMILLE);
  if (agent.onBreak || tired) toggleBreak(agent, world);
  else ally(agent, world);
}

function ally(agent: ScriptedAgent, world: World): void {
  const chance = agent.chance('life');
  const own = world.alliancesOf(agent.ordinal);
  if (own.length > 0 && chance.chance(LEAVE_PERMILLE)) {
    const timestamp = formatInstant(world.now);
    world.send(agent.ordinal, composeAllianceLeave(agent.by, timestamp, chance.pick(own)));
  } else if (own.length < MOST_ALLIANCES && chance.chance(agent.personality.invitePermille)) {
    invite(agent, world);
  }
}

function toggleBreak(agent: ScriptedAgent, world: World): void {
  agent.onBreak = !agent.onBreak;
  const away = agent.chance('life').chance(500) ? 'inactive' : 'maintenance';
  const fields = agent.onBreak
    ? ({ status: away, reason: 'a break', expected_duration: 'PT1M' } as const)
    : ({ status: 'active', reason: 'back again' } as const);
  const id = world.agentId(agent.ordinal);
  world.send(agent.ordinal, composeStatus(agent.by, formatInstant(world.now), id, fields));
}

function invite(agent: ScriptedAgent, world: World): void {
  const chance = agent.chance('life');
  const neighbours = world.neighbours(agent.ordinal);
  const count = Math.min(neighbours.length, 1 + chance.int(MOST_INVITED));
  const invited = new Set<string>();
  for (let index = 0; index < count; index += 1) {
    invited.add(world.agentId(chance.pick(neighbours)));
  }
  if (invited.size === 0) return;
  const fields = { target_ids: [...invited], purpose: 'to vote as one', duration: 'PT2M' };
  world.send(agent.ordinal, composeAlliancePropose(agent.by, formatInstant(world.now), fields));
}

export function answerInvitation(agent: ScriptedAgent, world: World, alliance: string): void {
  const accepted = agent.chance('life').chance(agent.personality.acceptPermille);
  const timestamp = formatInstant(world.now);
  world.send(agent.ordinal, composeAllianceRespond(agent.by, timestamp, alliance, accepted));
}
