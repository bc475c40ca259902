/** Event handlers shared by all strategies of scripted agents. */
import { composeRegister } from '../../engine/protocol/compose.js';
import { activate, deactivate, nextTurnAt, openWaitMs, sendStatus, takeTurn } from './actions.js';
import {
  type Behaviour,
  isHere,
  type ScheduledEvent,
  type ScriptedAgent,
  type World,
} from './port.js';

/** Spread of the first occasions, so that a thousand agents do not act at once. */
const FIRST_SOCIAL_MS = 20_000;
/** Retry interval for a registration or departure that the agent has not seen confirmed. */
const ASK_AGAIN_MS = 10_000;

/** Events without members are shared, because one is pending for each agent. */
const joining = { type: 'join' } as const;
const occasion = { type: 'socialize' } as const;

type Kinds = { [K in ScheduledEvent['type']]: Extract<ScheduledEvent, { type: K }> };
type Handler<E> = (agent: ScriptedAgent, world: World, event: E) => void;

const handlers: { [K in keyof Kinds]: Handler<Kinds[K]> } = {
  join,
  hear(agent, world, { block: hash }) {
    const block = world.block(agent.ordinal, hash);
    if (!block || world.knowsClosed(agent.ordinal, hash)) return;
    agent.strategy.hear(agent, world, block);
  },
  vote(agent, world, { block: hash, round }) {
    const block = world.block(agent.ordinal, hash);
    if (!agent.validator || !block || world.knowsClosed(agent.ordinal, hash)) return;
    agent.strategy.vote(agent, world, block, round);
  },
  produce(agent, world, { turn }) {
    if (turn !== agent.turn) return;
    takeTurn(agent, world, nextTurnAt(agent, world));
    if (!agent.onBreak) agent.strategy.produce(agent, world);
  },
  socialize(agent, world) {
    callForOccasion(agent, world);
    if (!agent.away) agent.strategy.socialize(agent, world);
    agent.occasions += 1;
  },
  invited: (agent, world, { alliance }) => agent.strategy.invited(agent, world, alliance),
  depart,
  start: (agent, world) => agent.strategy.start?.(agent, world),
  wake(agent, world, event) {
    const { name, note = null } = event;
    if (name !== undefined) {
      if (agent.timers?.get(name) !== event) return;
      agent.timers.delete(name);
    }
    agent.strategy.wake?.(agent, world, note);
  },
  receive(agent, world, { message }) {
    if (agent.joined) agent.strategy.receive?.(agent, world, message);
  },
  restart(agent, world) {
    if (isGone(agent, world, world.now)) return depart(agent, world);
    // The crash has lost all pending calls.
    agent.timers = null;
    if (!agent.joined) join(agent, world);
    else {
      agent.strategy.start?.(agent, world);
      callForOccasion(agent, world);
    }
    if (agent.producer) takeTurn(agent, world, nextTurnAt(agent, world));
  },
  leave(agent, world) {
    agent.away = true;
    deactivate(agent, world);
  },
  return(agent, world) {
    agent.away = false;
    activate(agent, world);
  },
};

export const behaviour: Behaviour = {
  handle(agent, world, event) {
    const here = isHere(agent, world.now - world.startMs);
    // An agent that was down at its departure time announces its departure when it restarts.
    const leaving = isGone(agent, world, world.now) && leavingWith.has(event.type);
    if (!here && !leaving) return;
    const handle = handlers[event.type] as Handler<ScheduledEvent>;
    handle(agent, world, event);
  },
  registered,
  handleStatus(agent, world, at, status) {
    registered(agent, world, at);
    if (status !== 'active' && isGone(agent, world, at)) agent.left = true;
  },
  blockClosed(agent, world, at, block) {
    takeTurn(agent, world, at + openWaitMs(world, agent.rng('turns', block)));
  },
};

function join(agent: ScriptedAgent, world: World): void {
  if (agent.joined) return;
  const request = composeRegister(agent.by, world.stamp(agent.ordinal), {
    personality: agent.personalityName,
    name: agent.name,
    capabilities: agent.capabilities,
  });
  world.send(agent.ordinal, request);
  world.schedule(agent.ordinal, world.now + ASK_AGAIN_MS, joining);
}

function registered(agent: ScriptedAgent, world: World, at: number): void {
  if (agent.joined) return;
  agent.joined = true;
  if (agent.strategy.start) world.schedule(agent.ordinal, at, { type: 'start' });
  const after = FIRST_SOCIAL_MS + agent.rng('occasions').int(FIRST_SOCIAL_MS);
  world.schedule(agent.ordinal, at + after, occasion);
  // The agent's departure time passed before its registration was confirmed.
  if (isGone(agent, world, at))
    world.schedule(agent.ordinal, at + ASK_AGAIN_MS, { type: 'depart' });
}

const leavingWith = new Set<ScheduledEvent['type']>(['depart', 'restart']);

const isGone = ({ leavesMs }: ScriptedAgent, { startMs }: World, at: number): boolean =>
  leavesMs !== null && at - startMs >= leavesMs;

/** Announces a permanent departure, again until the agent sees it confirmed. */
function depart(agent: ScriptedAgent, world: World): void {
  if (!agent.joined || agent.left) return;
  sendStatus(agent, world, { status: 'inactive', reason: 'gone for good' });
  world.schedule(agent.ordinal, world.now + ASK_AGAIN_MS, { type: 'depart' });
}

function callForOccasion(agent: ScriptedAgent, world: World): void {
  const { occasion_ms } = world.scenario.social;
  const after = occasion_ms + agent.rng('occasions').int(occasion_ms);
  world.schedule(agent.ordinal, world.now + after, occasion);
}
