/** What each kind of intervention does when it acts; each says how much it changed. */
import { composeAllianceLeave } from '../../../engine/internal.js';
import { chanceOf } from '../../agents/create.js';
import type { ScriptedAgent, Strategy } from '../../agents/port/agent.js';
import { Streams } from '../../rng.js';
import type { AllianceMembers, Names } from '../../scenario/interventions.js';
import type {
  InterventionKind,
  InterventionOf,
  Whom,
} from '../../scenario/schema/interventions/interventions.js';
import { drawnTraits, fixedTraits } from '../../scenario/traits.js';
import type { Faults } from '../../world/links/faults.js';
import type { Links } from '../../world/links/links.js';
import type { Changeable } from '../../world/society/intervening.js';
import type { Dropped, Drops } from './drops.js';
import type { Mutes } from './mutes.js';
import type { Numbers } from './numbers.js';
import type { Order, Votes } from './votes.js';

/** Whatever an act may need. */
export interface Acting {
  place: number;
  world: Changeable;
  names: Names;
  agents: readonly ScriptedAgent[];
  numbers: Numbers;
  mutes: Mutes;
  faults: Faults;
  links: Links;
  drops: Drops;
  votes: Votes;
  /** Of this intervention, if it is a vote. */
  order: Order | undefined;
  /** Of this intervention, if it changes the strategy. */
  strategy: Strategy | undefined;
  chosen(whom: readonly Whom[]): ScriptedAgent[];
  membersOf: AllianceMembers;
}

const TWO_32 = 4_294_967_296;

/** How much it changed; of what goes on, asked at the end. */
type Did = () => number;
type Acts = { [K in InterventionKind]: (one: InterventionOf<K>, acting: Acting) => Did };

export const acts: Acts = {
  mute({ meme, whom = [] }, { mutes, chosen, world }) {
    const authors = chosen(whom).map(({ ordinal }) => world.agentId(ordinal));
    const muted =
      meme === undefined ? mutes.authors(authors, world.now) : mutes.meme(meme, world.now);
    return () => muted.did;
  },

  silence({ whom }, { chosen, faults, world }) {
    const those = chosen(whom);
    for (const { ordinal } of those) faults.silence(ordinal, world.now);
    return () => those.length;
  },

  remove({ whom }, { chosen, world }) {
    const atMs = world.now - world.startMs;
    const those = chosen(whom).filter(({ leavesMs }) => leavesMs > atMs);
    for (const agent of those) {
      agent.leavesMs = atMs;
      world.schedule(agent.ordinal, world.now, { type: 'depart' });
    }
    return () => those.length;
  },

  dissolve({ alliance }, { numbers, membersOf, agents, world }) {
    const id = numbers.alliance(alliance);
    const members = membersOf(alliance);
    for (const member of members) {
      const { by, ordinal } = agents[member]!;
      world.send(ordinal, composeAllianceLeave(by, world.stamp(ordinal), id!));
    }
    return () => members.length;
  },

  drop({ block, alliance }, { drops }) {
    const drop: Dropped =
      block === undefined
        ? { of: 'alliances', named: alliance!, did: 0 }
        : { of: 'blocks', named: block, did: 0 };
    drops.add(drop);
    return () => drop.did;
  },

  vote(_, { votes, order }) {
    votes.begin(order!);
    return () => order!.did;
  },

  strategy({ whom }, { chosen, strategy, world }) {
    const those = chosen(whom);
    for (const agent of those) {
      agent.strategy = strategy!;
      const begins = agent.joined && strategy!.start !== undefined;
      if (begins) world.schedule(agent.ordinal, world.now, { type: 'start' });
    }
    return () => those.length;
  },

  traits({ whom, traits }, { chosen, place }) {
    const those = chosen(whom);
    for (const agent of those) {
      const drawn = drawnTraits(traits, (purpose) => agent.rng(`intervention/${place}/${purpose}`));
      agent.personality = { ...agent.personality, ...fixedTraits(traits), ...drawn };
    }
    return () => those.length;
  },

  set({ path, value }, { world }) {
    world.change(path, value);
    return () => 1;
  },

  redraw({ seed }, { agents, world }) {
    const streams = new Streams(`redraw/${world.seedNumber}/${seed}`);
    for (const agent of agents) agent.rng = chanceOf(streams, agent.ordinal);
    world.redraw(streams.of('world', 'latency').int(TWO_32));
    return () => agents.length;
  },

  link({ between, loss, factor }, { names, links, world }) {
    const [a = 0, b = 0] = between.map((end) => names.ordinalOf(end));
    links.setOwn(a, b, {
      from: world.now,
      ...(loss === undefined ? {} : { loss }),
      ...(factor === undefined ? {} : { factor }),
    });
    return () => 1;
  },
};
