/** Whose turn it is to produce, by the schedule of the scenario. */
import { mix, type Stream } from '../../rng.js';
import type { ScriptedAgent } from '../port/agent.js';
import type { World } from '../port/world.js';

/** Production begins when agents had time to join. */
const FIRST_BLOCK_MS = 5_000;
/** An open producer looks again after this many intervals even when it received nothing. */
const RETRY_INTERVALS = 10;
/** Names the draw of a slot's producer. */
const SLOT = 0x5107;

/** Calls the producer for its next turn; whatever call was pending is void. */
export function takeTurn(agent: ScriptedAgent, world: World, at: number): void {
  agent.turn += 1;
  world.schedule(agent.ordinal, at, { type: 'produce', turn: agent.turn });
}

export function firstTurnAt(agent: ScriptedAgent, world: World): number {
  const first = world.startMs + Math.max(FIRST_BLOCK_MS, agent.joinsMs);
  if (world.scenario.producers.schedule === 'open')
    return first + openWaitMs(world, agent.rng('turns'));
  return slotAt(agent, world, first);
}

export function nextTurnAt(agent: ScriptedAgent, world: World): number {
  const { schedule, block_interval_ms } = world.scenario.producers;
  if (schedule !== 'open') return slotAt(agent, world, world.now + 1);
  const wait = RETRY_INTERVALS * block_interval_ms;
  return world.now + wait + agent.rng('turns').int(wait);
}

/** Open schedule: how long a producer waits after a block, longer where there are more of them. */
export function openWaitMs(world: World, rng: Stream): number {
  const { block_interval_ms } = world.scenario.producers;
  return 1 + rng.int(world.producers.length * block_interval_ms);
}

/** The start of the agent's next slot from an instant on. */
function slotAt(agent: ScriptedAgent, world: World, from: number): number {
  const { block_interval_ms: interval } = world.scenario.producers;
  const origin = world.startMs + FIRST_BLOCK_MS;
  const place = world.producers.indexOf(agent.ordinal);
  let slot = Math.max(0, Math.ceil((from - origin) / interval));
  while (producerOf(slot, world) !== place) slot += 1;
  return origin + slot * interval;
}

function producerOf(slot: number, world: World): number {
  const { schedule } = world.scenario.producers;
  const { length } = world.producers;
  return schedule === 'random' ? mix(world.seedNumber, SLOT, slot) % length : slot % length;
}
