/** What is kept for a group that follows a script, from call to call, in one run. */
import type { ScriptedAgent } from '../port/agent.js';
import type { World } from '../port/world.js';
import type { ScriptGroup, ScriptReportView } from './interface.js';
import { deepFrozen } from './plain-data.js';
import type { Kept } from './view.js';

export class Notes {
  readonly #parameters: Kept['parameters'];
  readonly #shared: Record<string, unknown> = {};
  readonly #kept = new Map<number, Kept>();

  constructor(parameters: Kept['parameters']) {
    this.#parameters = parameters;
  }

  /** What an agent is shown at each of its calls. */
  keptFor(agent: ScriptedAgent, world: World): Kept {
    const known = this.#kept.get(agent.ordinal);
    if (known) return known;
    const { ordinal, name, group, personalityName: personality } = agent;
    const id = world.agentId(ordinal);
    const kept: Kept = {
      me: Object.freeze({ ordinal, id, name, group: group.group, personality }),
      neighbours: Object.freeze([...world.neighbours(ordinal)]),
      parameters: this.#parameters,
      memory: {},
      shared: this.#shared,
      ...who(world),
    };
    this.#kept.set(ordinal, kept);
    return kept;
  }

  /** As they are at the end: nobody writes into them any more. */
  final(group: string, world: World): ScriptGroup {
    const noted = [...this.#kept].sort(([a], [b]) => a - b);
    const memories = noted.map(([ordinal, { memory }]) => [ordinal, deepFrozen(memory)] as const);
    return Object.freeze({
      group,
      agents: who(world).agentsOf(group),
      memories: Object.freeze(Object.fromEntries(memories)),
      shared: deepFrozen(this.#shared),
      parameters: this.#parameters,
    });
  }
}

type Who = Pick<ScriptReportView, 'groupOf' | 'agentsOf'>;
const known = new WeakMap<World, Who>();

/** Who is of which group: the same for all of a world. */
export function who(world: World): Who {
  const made = known.get(world);
  if (made) return made;
  const groups = new Map<string, readonly number[]>();
  for (const { group } of world.scenario.agents) groups.set(group, []);
  const one: Who = {
    groupOf: (agent) => world.groupOf(agent),
    agentsOf: (group) => membersOf(group, groups, world),
  };
  known.set(world, one);
  return one;
}

const nobody: readonly number[] = Object.freeze([]);

function membersOf(group: string, groups: Map<string, readonly number[]>, world: World) {
  const members = groups.get(group);
  if (members === undefined || members.length > 0) return members ?? nobody;
  const all = Array.from({ length: world.scenario.population }, (_, ordinal) => ordinal);
  const found = Object.freeze(all.filter((ordinal) => world.groupOf(ordinal) === group));
  groups.set(group, found);
  return found;
}
